import type { Clock } from '../domain/clock.ts';
import { andThen } from '../domain/maybe-promise.ts';
import { playlistStatusAt } from '../domain/records/playlist.ts';
import type { Playlist } from '../domain/records/rows.ts';
import type { OriginAnswer, PlaylistOrigin, ReadPlaylist } from './origin.ts';
import { validPlaylist } from './valid-playlist.ts';

/** The store as an origin. A withdrawn or expired playlist is a decision that there is none. */
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
