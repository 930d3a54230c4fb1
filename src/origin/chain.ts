import type { Clock } from '../domain/clock.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { Screen } from '../domain/records/rows.ts';
import type { ChainAnswer, OriginAnswer, PlaylistChain, PlaylistOrigin } from './origin.ts';
import type { OriginHealthTracker } from './origin-health.ts';

/** An origin, and who is told how it fares. */
export interface Link {
  origin: PlaylistOrigin;
  watch?: OriginHealthTracker;
}

const outcome = ({ kind }: OriginAnswer) => (kind === 'playlist' ? 'playlist' : 'none');

/**
 * Asks the origins in their order until one has the playlist, or decides that there is none. One that fails passes the request on; when none
 * delivers and at least one failed, all have failed (docs/protocol.md §2.3).
 */
export function makeChain(links: readonly Link[], clock: Clock): PlaylistChain {
  function askFrom(
    turn: number,
    screen: Screen,
    failure?: { cause: unknown },
  ): MaybePromise<ChainAnswer> {
    const link = links[turn];
    if (!link) return failure ? { kind: 'failed', ...failure } : { kind: 'none' };
    const { origin, watch } = link;
    const startMs = clock.now();
    const answered = (answer: OriginAnswer, endMs = clock.now()): MaybePromise<ChainAnswer> => {
      watch?.answered(outcome(answer), startMs, endMs);
      if (answer.kind === 'playlist')
        return { kind: 'playlist', playlist: answer.playlist, source: origin.name };
      return answer.kind === 'decided-none' ? { kind: 'none' } : askFrom(turn + 1, screen, failure);
    };
    const failed = (cause: unknown) => {
      watch?.failed(cause, startMs);
      return askFrom(turn + 1, screen, failure ?? { cause });
    };
    let answer: MaybePromise<OriginAnswer>;
    try {
      answer = origin.fetch(screen);
    } catch (cause) {
      return failed(cause);
    }
    // What was there at once took no time.
    return answer instanceof Promise
      ? answer.then((late) => answered(late), failed)
      : answered(answer, startMs);
  }

  return (screen) => askFrom(0, screen);
}
