import type { Clock } from '../domain/clock.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { Screen } from '../domain/records/rows.ts';
import type { ChainAnswer, OriginAnswer, PlaylistChain, PlaylistOrigin } from './origin.ts';
import type { OriginHealthTracker } from './origin-health.ts';

/** An origin with its health tracker. */
export interface ChainLink {
  origin: PlaylistOrigin;
  tracker?: OriginHealthTracker;
}

const outcomeOf = ({ kind }: OriginAnswer) => (kind === 'playlist' ? 'playlist' : 'none');

/**
 * Asks the origins in order until one returns a playlist or decides that there is none. A failing
 * origin passes the request on. If no origin delivers and at least one failed, the answer is
 * `failed` (docs/protocol.md §2.3).
 */
export function makeChain(links: readonly ChainLink[], clock: Clock): PlaylistChain {
  function askNext(
    index: number,
    screen: Screen,
    failure?: { cause: unknown },
  ): MaybePromise<ChainAnswer> {
    const link = links[index];
    if (!link) return failure ? { kind: 'failed', ...failure } : { kind: 'none' };
    const { origin, tracker } = link;
    const startMs = clock.now();
    const onAnswer = (answer: OriginAnswer, endMs = clock.now()): MaybePromise<ChainAnswer> => {
      tracker?.answered(outcomeOf(answer), startMs, endMs);
      if (answer.kind === 'playlist')
        return { kind: 'playlist', playlist: answer.playlist, source: origin.name };
      return answer.kind === 'decided-none'
        ? { kind: 'none' }
        : askNext(index + 1, screen, failure);
    };
    const onFailure = (cause: unknown) => {
      tracker?.failed(cause, startMs);
      return askNext(index + 1, screen, failure ?? { cause });
    };
    let answer: MaybePromise<OriginAnswer>;
    try {
      answer = origin.fetch(screen);
    } catch (cause) {
      return onFailure(cause);
    }
    // A synchronous answer took no time.
    return answer instanceof Promise
      ? answer.then((late) => onAnswer(late), onFailure)
      : onAnswer(answer, startMs);
  }

  return (screen) => askNext(0, screen);
}
