import type { Clock } from '../domain/clock.ts';
import { playlistStatusAt } from '../domain/playlist.ts';
import type { PlaylistOrigin, ReadPlaylist } from './origin.ts';
import { soundPlaylist } from './sound-playlist.ts';

/** The persisted store as an origin. What it knows to be withdrawn or past its end is a decision. */
export function makeStoredOrigin(read: ReadPlaylist, clock: Clock): PlaylistOrigin {
  return {
    name: 'store',
    async fetch(screen) {
      const playlist = soundPlaylist(await read(screen.id));
      if (!playlist) return { kind: 'none' };
      return playlistStatusAt(playlist, clock.now()) === 'active' ? { kind: 'playlist', playlist } : { kind: 'decided-none' };
    },
  };
}
