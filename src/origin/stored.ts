import type { Clock } from '../domain/clock.ts';
import { playlistStatusAt } from '../domain/playlist.ts';
import type { Reader } from '../store/store.ts';
import type { PlaylistOrigin } from './origin.ts';

/** The persisted store as an origin. What it knows to be withdrawn or past its end is a decision. */
export function makeStoredOrigin(reader: Reader, clock: Clock): PlaylistOrigin {
  return {
    name: 'store',
    async fetch(screen) {
      const playlist = await reader.get('playlists', screen.id);
      if (!playlist) return { kind: 'none' };
      return playlistStatusAt(playlist, clock.now()) === 'active' ? { kind: 'playlist', playlist } : { kind: 'decided-none' };
    },
  };
}
