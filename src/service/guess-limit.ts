import { type Clock, minuteMs, secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { sourceOf, type Trust } from './trust.ts';

const windowMs = 15 * minuteMs;
const allowed = 10;
const allowedMoreIfTrusted = 60;
const firstWaitMs = 60 * secondMs;
/** More sources than this are not counted at a time: those whose last guess is oldest go first. */
const mostSources = 100_000;

/** What one source has tried. */
interface Guesses {
  /** When it sent codes that were unknown, within the window. */
  times: number[];
  /** Until when it was last told to wait, and for how long. */
  waitUntil: number;
  waitMs: number;
}

export interface GuessLimit {
  /**
   * Judges a registration whose code was looked up: `owner` is the tenant of the code, `undefined` when it is unknown. Counts unknown codes
   * only, over a sliding window: ten in any 15 minutes, then throws `too_many_attempts` for every registration from that source. A source
   * that a tenant's credentials vouch for goes on with that tenant's codes, for 60 more that are none (docs/protocol.md §3.5).
   */
  judge(address: string | null, owner: string | undefined): void;
}

export function makeGuessLimit(clock: Clock, trust: Trust, onLockOut: (source: string) => void = () => {}): GuessLimit {
  const sources = new Map<string, Guesses>();

  function guessesOf(source: string): Guesses | undefined {
    const guesses = sources.get(source);
    if (!guesses) return undefined;
    const since = clock.now() - windowMs;
    guesses.times = guesses.times.filter((time) => time > since);
    if (guesses.times.length > 0) return guesses;
    sources.delete(source);
    return undefined;
  }

  function count(source: string): void {
    const guesses = guessesOf(source) ?? { times: [], waitUntil: 0, waitMs: 0 };
    guesses.times.push(clock.now());
    sources.delete(source);
    sources.set(source, guesses);
    if (sources.size > mostSources) sources.delete(sources.keys().next().value as string);
  }

  /** Each time the announced wait was sat out in vain, the next one is twice as long, up to the window. */
  function refuse(source: string, guesses: Guesses): never {
    const now = clock.now();
    if (now >= guesses.waitUntil) {
      if (guesses.waitMs === 0) onLockOut(source);
      guesses.waitMs = Math.min(guesses.waitMs === 0 ? firstWaitMs : guesses.waitMs * 2, windowMs);
      guesses.waitUntil = now + guesses.waitMs;
    }
    const retryAfterSeconds = Math.max(1, Math.ceil((guesses.waitUntil - now) / secondMs));
    const detail = `Too many unknown pairing codes came from this address: wait ${retryAfterSeconds} seconds, then check the code on the screen's page.`;
    throw new SignageError('too_many_attempts', detail, { retryAfterSeconds });
  }

  return {
    judge(address, owner) {
      const source = sourceOf(address);
      const guesses = guessesOf(source);
      if (!guesses || guesses.times.length < allowed) {
        if (owner === undefined) count(source);
        return;
      }
      const more = guesses.times.length < allowed + allowedMoreIfTrusted;
      if (more && owner !== undefined && trust.of(source, owner)) return;
      if (more && owner === undefined && trust.of(source)) count(source);
      refuse(source, guesses);
    },
  };
}
