import { type Clock, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { asGuid } from '../../domain/id.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { HeldCopy, PlaylistCopies, PlaylistCopy, ScreenOf } from '../origin.ts';
import { maxObjectBytes, type ObjectStore, type StoredObject } from './object-store.ts';
import { playlistObjectBytes, readPlaylistObject } from './playlist-object.ts';

/** A TV may be waiting. */
const readTimeoutMs = 2 * secondMs;
/** Nobody is waiting, and 1 MiB may have a slow line to go. */
const writeTimeoutMs = 5 * secondMs;

const folderOf = (tenantId: string) => `${tenantId}/playlists`;
/** All of a tenant lies under its id, so that it can be listed, granted and taken away by itself. */
const keyOf = ({ tenantId, id }: ScreenOf) => `${folderOf(tenantId)}/${id}.json`;

const screenOf = ({ screenId, tenantId }: Playlist): ScreenOf => ({ id: screenId, tenantId });

function read({ bytes }: StoredObject, screen: ScreenOf): PlaylistCopy {
  try {
    if (!bytes) throw new Error('it is larger than any playlist');
    return readPlaylistObject(bytes, screen);
  } catch (error) {
    return { kind: 'damaged', why: (error as Error).message };
  }
}

/** Copies of playlists in an object store. */
export function makePlaylistCopies(store: ObjectStore, clock: Clock): PlaylistCopies {
  function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const end = new AbortController();
    return withTimeout(clock, timeoutMs, work(end.signal), () => end.abort());
  }

  return {
    location: store.location,
    async read(screen): Promise<HeldCopy | undefined> {
      const object = await within(readTimeoutMs, (signal) => store.get(keyOf(screen), signal));
      return object && { copy: read(object, screen), etag: object.etag };
    },
    async write(row: Playlist, held) {
      const bytes = playlistObjectBytes(row);
      if (bytes.length > maxObjectBytes)
        throw new SignageError(
          'object_too_large',
          `${keyOf(screenOf(row))} would have more than ${maxObjectBytes} bytes.`,
        );
      return within(writeTimeoutMs, (signal) =>
        store.put(keyOf(screenOf(row)), bytes, held?.etag ?? null, signal),
      );
    },
    async remove(screen) {
      await within(writeTimeoutMs, (signal) => store.delete(keyOf(screen), signal));
    },
    async screensOf(tenantId, after) {
      const folder = folderOf(tenantId);
      const { keys, next } = await within(writeTimeoutMs, (signal) =>
        store.list(folder, after, signal),
      );
      const names = keys.flatMap((key) => /\/([^/]+)\.json$/.exec(key)?.[1] ?? []);
      return { ids: names.filter((name) => asGuid(name) === name), next };
    },
  };
}
