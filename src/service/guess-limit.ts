import { type Clock, minuteMs, secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { Attempts } from '../domain/records.ts';
import type { AttemptChange, Store } from '../store/store.ts';
import { sourceOf, type Trust } from './trust.ts';

const windowMs = 15 * minuteMs;
const allowed = 10;
const allowedMoreIfTrusted = 60;
const firstWaitMs = 60 * secondMs;

/** What is made of a registration: `waitMs` is how long it is refused for, and `begins` tells that it is the first that is. */
type Verdict = { waitMs: number; begins: boolean } | undefined;

export interface GuessLimit {
  /**
   * Judges a registration whose code was looked up: `owner` is the tenant of the code, `undefined` when it is unknown. Counts unknown codes
   * only, over a sliding window and all instances: ten in any 15 minutes, then throws `too_many_attempts` for every registration from that
   * source. A source that a tenant's credentials vouch for goes on with that tenant's codes, for 60 more that are none (docs/protocol.md §3.5).
   */
  judge(address: string | null, owner: string | undefined): Promise<void>;
}

/** Those that still count; with the last of them goes all else that is known of the source. */
function standing(known: Attempts | undefined, nowMs: number): Attempts | undefined {
  const times = known?.times.filter((time) => time > nowMs - windowMs) ?? [];
  return known && times.length > 0 ? { ...known, times } : undefined;
}

function counted(guesses: Attempts | undefined, nowMs: number): Attempts {
  const { times = [], waitUntil = 0, waitMs = 0 } = guesses ?? {};
  return { times: [...times, nowMs], waitUntil, waitMs, forgetAt: nowMs + windowMs };
}

/** Each time the announced wait was sat out in vain, the next one is twice as long, up to the window. */
function refused(guesses: Attempts, nowMs: number): { attempts: Attempts; result: Verdict } {
  const { waitUntil, waitMs } = guesses;
  if (nowMs < waitUntil) return { attempts: guesses, result: { waitMs: waitUntil - nowMs, begins: false } };
  const next = Math.min(waitMs === 0 ? firstWaitMs : waitMs * 2, windowMs);
  return { attempts: { ...guesses, waitUntil: nowMs + next, waitMs: next }, result: { waitMs: next, begins: waitMs === 0 } };
}

function tooMany(waitMs: number): SignageError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
  const detail = `Too many unknown pairing codes came from this address: wait ${retryAfterSeconds} seconds, then check the code on the screen's page.`;
  return new SignageError('too_many_attempts', detail, { retryAfterSeconds });
}

export function makeGuessLimit(
  store: Pick<Store, 'attempts'>,
  clock: Clock,
  trust: Trust,
  onLockOut: (source: string) => void = () => {},
): GuessLimit {
  function judging(source: string, owner: string | undefined): AttemptChange<Verdict> {
    return (known) => {
      const now = clock.now();
      const guesses = standing(known, now);
      if (!guesses || guesses.times.length < allowed) {
        return { attempts: owner === undefined ? counted(guesses, now) : known, result: undefined };
      }
      const more = guesses.times.length < allowed + allowedMoreIfTrusted;
      if (more && owner !== undefined && trust.of(source, owner)) return { attempts: known, result: undefined };
      if (more && owner === undefined && trust.of(source)) return refused(counted(guesses, now), now);
      const verdict = refused(guesses, now);
      return verdict.attempts === guesses ? { ...verdict, attempts: known } : verdict;
    };
  }

  return {
    async judge(address, owner) {
      const source = sourceOf(address);
      const verdict = await store.attempts(source, judging(source, owner));
      if (verdict?.begins) onLockOut(source);
      if (verdict) throw tooMany(verdict.waitMs);
    },
  };
}
