import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { PlaylistCopies, RemoteOrigin } from '../origin.ts';

/**
 * The copies of the newest playlists as an origin. That one was withdrawn, or is past its end, is a decision also where the store cannot be asked; that
 * there is no copy is none, for it may be on its way.
 */
export function makeObjectStoreOrigin(copies: PlaylistCopies, clock: Clock): RemoteOrigin {
  return {
    name: 'object-store',
    async fetch(screen) {
      const held = await copies.read(screen);
      if (!held) return { kind: 'none' };
      const { copy } = held;
      if (copy.kind === 'damaged') {
        throw new SignageError(
          'origin_bad_answer',
          `The copy of the playlist of the screen ${screen.id} cannot be used: ${copy.why}.`,
        );
      }
      if (copy.kind === 'withdrawn') return { kind: 'decided-none', version: copy.version };
      const { playlist } = copy;
      if (playlistStatusAt(playlist, clock.now()) !== 'active')
        return { kind: 'decided-none', version: playlist.version };
      return { kind: 'playlist', playlist };
    },
  };
}
