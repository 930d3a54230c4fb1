import { BoundedMap } from '../domain/bounded-map.ts';
import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { andThen } from '../domain/maybe-promise.ts';
import { playlistStatusAt } from '../domain/records/playlist.ts';
import type { Playlist } from '../domain/records/rows.ts';
import type { OriginAnswer, PlaylistOrigin, ReadPlaylist } from './origin.ts';

/**
 * Cache of validated rows. It only hits with the embedded store, which returns the same frozen
 * object each time.
 */
const validated = new BoundedMap<Playlist, true>(10_000);

function isPlaylist({ version, playlistId, items, state }: Playlist): boolean {
  if (
    !Number.isSafeInteger(version) ||
    version < 1 ||
    typeof playlistId !== 'string' ||
    typeof items !== 'string'
  )
    return false;
  if (!['active', 'superseded', 'withdrawn'].includes(state)) return false;
  try {
    return Array.isArray(JSON.parse(items));
  } catch {
    return false;
  }
}

/**
 * Returns the row if it can be served. Throws `origin_bad_answer` for a damaged row, so that only
 * its screen fails, and not the whole store.
 */
export function validPlaylist(row: Playlist | undefined): Playlist | undefined {
  if (row === undefined || validated.get(row)) return row;
  if (!isPlaylist(row))
    throw new SignageError(
      'origin_bad_answer',
      'The row of this screen in the store is not a valid playlist.',
    );
  if (Object.isFrozen(row)) validated.set(row, true);
  return row;
}

/**
 * The store as an origin. If a playlist is withdrawn or expired, the screen has no playlist, and no
 * other origin is asked.
 */
export function makeStoredOrigin(read: ReadPlaylist, clock: Clock): PlaylistOrigin {
  function answerOf(row: Playlist | undefined): OriginAnswer {
    const playlist = validPlaylist(row);
    if (!playlist) return { kind: 'none' };
    return playlistStatusAt(playlist, clock.now()) === 'active'
      ? { kind: 'playlist', playlist }
      : { kind: 'decided-none' };
  }

  return { name: 'store', fetch: (screen) => andThen(read(screen.id), answerOf) };
}
