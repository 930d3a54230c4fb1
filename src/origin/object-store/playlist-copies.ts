import { type Clock, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { asGuid } from '../../domain/id.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { PlaylistCopies, PlaylistCopy, ScreenKey, StoredCopy } from '../origin.ts';
import { maxObjectBytes, type ObjectStore, type StoredObject } from './object-store.ts';
import { playlistObjectBytes, readPlaylistObject } from './playlist-object.ts';

/** Short, because a TV may be waiting. */
const readTimeoutMs = 2 * secondMs;
/** Longer, because it runs in the background, and 1 MiB may have to pass a slow line. */
const writeTimeoutMs = 5 * secondMs;

const folderOf = (tenantId: string) => `${tenantId}/playlists`;
/** All objects of a tenant share a prefix, for listing, permissions and deletion. */
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

/** Mirror copies of playlists in an object store. */
export function makePlaylistCopies(store: ObjectStore, clock: Clock): PlaylistCopies {
  function withSignal<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const aborter = new AbortController();
    return withTimeout(clock, timeoutMs, work(aborter.signal), () => aborter.abort());
  }

  return {
    location: store.location,
    async read(screen): Promise<StoredCopy | undefined> {
      const object = await withSignal(readTimeoutMs, (signal) => store.get(keyOf(screen), signal));
      return object && { copy: parseCopy(object, screen), etag: object.etag };
    },
    async write(row: Playlist, stored) {
      const bytes = playlistObjectBytes(row);
      if (bytes.length > maxObjectBytes)
        throw new SignageError(
          'object_too_large',
          `${keyOf(screenKeyOf(row))} would have more than ${maxObjectBytes} bytes.`,
        );
      return withSignal(writeTimeoutMs, (signal) =>
        store.put(keyOf(screenKeyOf(row)), bytes, stored?.etag ?? null, signal),
      );
    },
    async remove(screen) {
      await withSignal(writeTimeoutMs, (signal) => store.delete(keyOf(screen), signal));
    },
    async screensOf(tenantId, after) {
      const folder = folderOf(tenantId);
      const { keys, next } = await withSignal(writeTimeoutMs, (signal) =>
        store.list(folder, after, signal),
      );
      const names = keys.flatMap((key) => /\/([^/]+)\.json$/.exec(key)?.[1] ?? []);
      return { ids: names.filter((name) => asGuid(name) === name), next };
    },
  };
}
