import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { GuessCounterChange } from '../store.ts';

/**
 * Maximum number of counters with guesses, and of counters without. Above it, the least recently
 * changed counter of that kind is evicted.
 */
const maxSources = 100_000;

/** In-memory guess counters by source. */
export class MemoryGuessCounters {
  readonly #now: () => number;
  readonly #active = new Map<string, GuessCounter>();
  /**
   * Counters without guesses. They have a limit of their own, so they cannot evict counters with
   * guesses.
   */
  readonly #idle = new Map<string, GuessCounter>();

  /** @param now returns the decision time */
  constructor(now: () => number) {
    this.#now = now;
  }

  change<T>(sources: readonly string[], change: GuessCounterChange<T>): T {
    const known = sources.map((source) => this.#active.get(source) ?? this.#idle.get(source));
    const { attempts, result } = change(known, this.#now());
    for (const [index, source] of sources.entries()) {
      const next = attempts[index];
      if (next !== undefined && next !== known[index]) this.#remember(source, next);
    }
    return result;
  }

  #remember(source: string, attempts: GuessCounter): void {
    this.#active.delete(source);
    this.#idle.delete(source);
    const counters = attempts.times.length > 0 ? this.#active : this.#idle;
    counters.set(source, attempts);
    if (counters.size > maxSources) counters.delete(counters.keys().next().value as string);
  }
}
