import type { Clock } from '../domain/clock.ts';
import type { OriginAnswer, PlaylistChain, PlaylistOrigin } from './origin.ts';
import type { OriginWatch } from './origin-watch.ts';

/** An origin, and who is told how it fares. */
export interface Link {
  origin: PlaylistOrigin;
  watch?: OriginWatch;
}

const outcome = ({ kind }: OriginAnswer) => (kind === 'playlist' ? 'playlist' : 'none');

/**
 * Asks the origins in their order until one has the playlist, or decides that there is none. One that fails passes the request on; when none
 * delivers and at least one failed, all have failed (docs/protocol.md §2.3).
 */
export function makeChain(links: readonly Link[], clock: Clock): PlaylistChain {
  return async (screen) => {
    let failure: { cause: unknown } | undefined;
    for (const { origin, watch } of links) {
      const startMs = clock.now();
      try {
        const answer = await origin.fetch(screen);
        watch?.answered(outcome(answer), startMs);
        if (answer.kind === 'playlist') return { ...answer, source: origin.name };
        if (answer.kind === 'decided-none') return { kind: 'none' };
      } catch (cause) {
        watch?.failed(cause, startMs);
        failure ??= { cause };
      }
    }
    return failure ? { kind: 'failed', ...failure } : { kind: 'none' };
  };
}
