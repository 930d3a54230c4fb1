import { BoundedMap } from '../domain/bounded-map.ts';
import { SignageError } from '../domain/error.ts';
import { servedPlaylistEtag } from '../domain/etags/etag.ts';
import { TwoPartBody } from '../domain/json/two-part-body.ts';
import { servedValidUntilSeconds } from '../domain/playlists/playlist.ts';
import type { Content, Playlist } from '../domain/records/rows.ts';
import type { RenderedPlaylist } from './origin.ts';

const states = ['active', 'superseded', 'withdrawn'];

function isPlaylist({ version, playlistId, contentId, state }: Playlist): boolean {
  return (
    Number.isSafeInteger(version) &&
    version >= 1 &&
    typeof playlistId === 'string' &&
    typeof contentId === 'string' &&
    states.includes(state)
  );
}

/**
 * Returns the row if it can be served. Throws `origin_bad_answer` for a damaged row, so that only
 * its screen fails, and not the whole store.
 */
export function validPlaylist(row: Playlist): Playlist {
  if (isPlaylist(row)) return row;
  throw new SignageError(
    'origin_bad_answer',
    'The row of this screen in the store is not a valid playlist.',
  );
}

/**
 * Returns the items of a playlist. Throws `origin_bad_answer` if they are lost or damaged. They are
 * not parsed: they were valid when they were published, and checksums detect damage of a document.
 * Checking both brackets detects truncated text.
 */
export function validItems(content: Pick<Content, 'items'> | undefined): string {
  const items: unknown = content?.items;
  if (typeof items === 'string' && items.startsWith('[') && items.endsWith(']')) return items;
  throw new SignageError(
    'origin_bad_answer',
    'The items of the playlist of this screen are not in the store.',
  );
}

/** Reads the row with the items of a playlist. */
export type ReadContent = (id: string) => Promise<Content | undefined>;

/** Memory for the items of 10,000 different playlists with ten items each. */
const defaultLimitBytes = 32 * 1024 * 1024;

/**
 * Renders the items of playlists. All screens with the same items share the bytes. Caches those
 * that are read often.
 */
export class RenderedItems {
  readonly #read: ReadContent;
  readonly #known: BoundedMap<string, Buffer>;

  /** @param limitBytes limit of the cache */
  constructor(read: ReadContent, limitBytes = defaultLimitBytes) {
    this.#read = read;
    this.#known = new BoundedMap(limitBytes / 2, ({ length }) => length);
  }

  /**
   * Returns the end of the body of a playlist: its items and a closing brace.
   *
   * @param items of a playlist whose items may not be in the store
   */
  async of({ contentId }: Playlist, items?: string): Promise<Buffer> {
    const known = this.#known.get(contentId);
    if (known) return known;
    const bytes = Buffer.from(`${items ?? validItems(await this.#read(contentId))}}`);
    this.#known.offer(contentId, bytes);
    return bytes;
  }
}

/** Renders an active playlist at a time. `items` is the result of `RenderedItems`. */
export function renderPlaylist(row: Playlist, items: Buffer, nowMs: number): RenderedPlaylist {
  const { playlistId, tenantId, screenId, version, hasMedia } = row;
  const validUntil = servedValidUntilSeconds(row, nowMs);
  const head = {
    id: playlistId,
    tenantId,
    screenId,
    status: 'active',
    version,
    validUntil,
    entryId: null,
  };
  return {
    row,
    version,
    hasMedia,
    // The body depends only on the members that the ETag contains.
    etag: servedPlaylistEtag(row, validUntil),
    body: new TwoPartBody(`${JSON.stringify(head).slice(0, -1)},"items":`, items),
  };
}
