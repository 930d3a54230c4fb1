import type { PlaylistChain, PlaylistOrigin } from './origin.ts';

/**
 * Asks the origins in their order until one has the playlist, or decides that there is none. One that fails passes the request on; when none
 * delivers and at least one failed, all have failed (docs/protocol.md §2.3).
 */
export function makeChain(origins: readonly PlaylistOrigin[]): PlaylistChain {
  return async (screen) => {
    let failure: { cause: unknown } | undefined;
    for (const origin of origins) {
      try {
        const answer = await origin.fetch(screen);
        if (answer.kind === 'playlist') return { ...answer, source: origin.name };
        if (answer.kind === 'decided-none') return { kind: 'none' };
      } catch (cause) {
        failure ??= { cause };
      }
    }
    return failure ? { kind: 'failed', ...failure } : { kind: 'none' };
  };
}
