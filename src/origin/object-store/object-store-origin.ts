import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { PlaylistCopies, RemoteOrigin } from '../origin.ts';

/**
 * The mirror copies of playlists as an origin. A withdrawn or expired copy is a decision, even
 * without the store. A missing copy is not: it may still be in the queue.
 */
export function makeObjectStoreOrigin(copies: PlaylistCopies, clock: Clock): RemoteOrigin {
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
      return { kind: 'playlist', playlist };
    },
  };
}
