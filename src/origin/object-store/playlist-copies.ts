import { z } from 'zod';
import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { asGuid } from '../../domain/id.ts';
import { parseJson } from '../../domain/json/parse-json.ts';
import { playlistStatusAt, suppliedItems } from '../../domain/playlists/playlist.ts';
import {
  contentId,
  type PlaylistWithItems,
  playlistContent,
} from '../../domain/playlists/playlist-content.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type {
  PlaylistCopies,
  PlaylistCopy,
  PlaylistOrigin,
  ScreenKey,
  StoredCopy,
} from '../origin.ts';
import { validItems, validPlaylist } from '../rendered-playlists.ts';
import { everyPage } from './every-page.ts';
import {
  maxObjectBytes,
  type ObjectStore,
  type StoredObject,
  withTimeouts,
} from './object-store.ts';

/**
 * Version of the object format. Increase it for a change that older versions of the service cannot
 * read.
 */
const format = 1;

const timeMs = z.int().min(0);
const common = {
  format: z.literal(format, { error: `is an unknown format (known: ${format})` }),
  tenantId: z.guid(),
  screenId: z.guid(),
  playlistId: z.guid(),
  version: z.int().min(1),
};

const playlistObject = z.discriminatedUnion('state', [
  z.looseObject({
    ...common,
    state: z.literal('active'),
    validUntil: timeMs.nullable(),
    publishedAt: timeMs,
    origin: z.enum(['published', 'on-demand']),
    items: suppliedItems,
  }),
  z.looseObject({ ...common, state: z.literal('withdrawn') }),
]);

/**
 * Serialises a playlist for the object store: everything that is needed to serve it, or a tombstone
 * if it was withdrawn.
 */
export function playlistObjectBytes(row: PlaylistWithItems): Buffer {
  const { tenantId, screenId, playlistId, version, validUntil, publishedAt, origin } = row;
  const head = { format, tenantId, screenId, playlistId, version };
  if (row.state === 'withdrawn')
    return Buffer.from(`${JSON.stringify({ ...head, state: 'withdrawn' })}\n`);
  const text = JSON.stringify({ ...head, state: 'active', validUntil, publishedAt, origin });
  return Buffer.from(`${text.slice(0, -1)},"items":${row.items}}\n`);
}

/**
 * Parses the object of a playlist. Throws if the object is invalid or belongs to another screen.
 */
export function readPlaylistObject(bytes: Uint8Array, screen: ScreenKey): PlaylistCopy {
  const { json } = parseJson(bytes);
  const { success, data, error } = playlistObject.safeParse(json);
  if (!success) {
    const [issue] = error.issues;
    throw new Error(`/${issue?.path.join('/')} ${issue?.message}`);
  }
  const { playlistId, version, screenId, tenantId } = data;
  if (screenId !== screen.id || tenantId !== screen.tenantId)
    throw new Error('it belongs to another screen');
  if (data.state === 'withdrawn') return { kind: 'withdrawn', version };
  const { validUntil, publishedAt, origin } = data;
  // Keeps the items as they were before validation, because a schema may change details, such as
  // the case of an id.
  const content = playlistContent((json as { items: unknown[] }).items, validUntil);
  const playlist: PlaylistWithItems = {
    id: screenId,
    screenId,
    tenantId,
    playlistId,
    version,
    past: [],
    state: 'active',
    items: content.items,
    contentId: contentId(tenantId, content),
    hasMedia: content.mediaIds.length > 0,
    validUntil,
    publishedAt,
    origin,
    noneSince: null,
  };
  return { kind: 'playlist', playlist };
}

const folderOf = (tenantId: string) => `${tenantId}/playlists`;
/** All objects of a tenant have the same prefix, for listing, permissions and deletion. */
const keyOf = ({ tenantId, id }: ScreenKey) => `${folderOf(tenantId)}/${id}.json`;

const screenKeyOf = ({ screenId, tenantId }: Playlist): ScreenKey => ({ id: screenId, tenantId });

function parseCopy({ bytes }: StoredObject, screen: ScreenKey): PlaylistCopy {
  try {
    if (!bytes) throw new Error('it is larger than any playlist');
    return readPlaylistObject(bytes, screen);
  } catch (error) {
    return { kind: 'damaged', why: (error as Error).message };
  }
}

/**
 * A copy that was read. It is a class because each object literal with a getter makes a hidden
 * class, which keeps the bytes until the next full garbage collection.
 */
class ReadCopy implements StoredCopy {
  readonly #object: StoredObject;
  readonly #screen: ScreenKey;
  #copy: PlaylistCopy | undefined;

  constructor(object: StoredObject, screen: ScreenKey) {
    this.#object = object;
    this.#screen = screen;
  }

  /** Parsed on demand, because the check of all copies compares bytes. */
  get copy(): PlaylistCopy {
    this.#copy ??= parseCopy(this.#object, this.#screen);
    return this.#copy;
  }

  get etag(): string {
    return this.#object.etag;
  }

  isOf(row: PlaylistWithItems): boolean {
    const { bytes } = this.#object;
    return bytes !== undefined && playlistObjectBytes(row).equals(bytes);
  }
}

/** Mirror copies of playlists in an object store. */
export function makePlaylistCopies(store: ObjectStore, clock: Clock): PlaylistCopies {
  const objects = withTimeouts(store, clock);

  return {
    async read(screen): Promise<StoredCopy | undefined> {
      const object = await objects.get(keyOf(screen));
      return object && new ReadCopy(object, screen);
    },
    async write(row: PlaylistWithItems, stored) {
      // A copy may outlive the row: no damaged row replaces it.
      validPlaylist(row);
      validItems(row);
      const bytes = playlistObjectBytes(row);
      if (bytes.length > maxObjectBytes)
        throw new SignageError(
          'object_too_large',
          `${keyOf(screenKeyOf(row))} would have more than ${maxObjectBytes} bytes.`,
        );
      return objects.put(keyOf(screenKeyOf(row)), bytes, stored);
    },
    remove: (screen) => objects.delete(keyOf(screen)),
    async *screensOf(tenantId) {
      const folder = folderOf(tenantId);
      const pages = everyPage(
        (after) => objects.list(folder, after),
        () => new SignageError('object_store_refused', `The list of ${folder} does not end.`),
      );
      for await (const { keys } of pages) {
        // A folder lists all of its keys at once: 100,000 matches of a pattern would hold the
        // thread.
        const names = keys
          .filter((key) => key.endsWith('.json'))
          .map((key) => key.slice(key.lastIndexOf('/') + 1, -'.json'.length));
        yield names.filter((name) => asGuid(name) === name);
      }
    },
  };
}

/**
 * The mirror copies of playlists as an origin. If a copy is withdrawn or expired, the screen has no
 * playlist, and no other origin is asked. If a copy is missing, the next origin is asked, because
 * the copy may still be queued.
 */
export function makeObjectStoreOrigin(copies: PlaylistCopies, clock: Clock): PlaylistOrigin {
  return {
    name: 'object-store',
    async fetch(screen) {
      const stored = await copies.read(screen);
      if (!stored) return { kind: 'none' };
      const { copy } = stored;
      if (copy.kind === 'damaged') {
        throw new SignageError(
          'origin_bad_answer',
          `The mirror copy of the playlist of the screen ${screen.id} is damaged: ${copy.why}.`,
        );
      }
      if (copy.kind === 'withdrawn') return { kind: 'decided-none', version: copy.version };
      const { playlist } = copy;
      if (playlistStatusAt(playlist, clock.now()) !== 'active')
        return { kind: 'decided-none', version: playlist.version };
      return { kind: 'playlist', playlist, items: playlist.items };
    },
  };
}
