import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { GuessCountersOfEach } from '../../store/store.ts';
import type { SourceGroup } from './guess-source.ts';
import { currentGuesses, type RegistrationAttempt, sourceWindowMs } from './rate-policy.ts';

/** Number of unknown codes that a source may still send (docs/protocol.md §3.5). */
export interface GuessQuota {
  /** Maximum number of unknown codes in any `windowMs`. */
  limit: number;
  windowMs: number;
  remaining: number;
  /** Milliseconds until `remaining` grows. `undefined` if no guess counts currently. */
  resetMs: number | undefined;
}

/**
 * Returns the quota of the source's group with the fewest guesses left. Ignores the limits that all
 * sources share. `stored` holds the counters of the groups.
 */
export function quotaOf(
  stored: GuessCountersOfEach,
  nowMs: number,
  { groups, codeTtlMs }: Pick<RegistrationAttempt, 'groups' | 'codeTtlMs'>,
): GuessQuota {
  const windowMs = sourceWindowMs(codeTtlMs);
  const quotas = groups.map(({ maxGuesses }: SourceGroup, index) => {
    const { times }: GuessCounter = currentGuesses(stored[index], nowMs, windowMs);
    const [oldest] = times;
    return {
      limit: maxGuesses,
      windowMs,
      remaining: Math.max(0, maxGuesses - times.length),
      resetMs:
        oldest === undefined
          ? undefined
          : Math.min(Math.max(0, oldest + windowMs - nowMs), windowMs),
    };
  });
  return quotas.reduce((least, one) => (one.remaining < least.remaining ? one : least));
}
