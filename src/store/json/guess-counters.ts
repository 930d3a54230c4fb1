import type { GuessCounter } from '../../domain/records/rows.ts';
import type { GuessCounterChange } from '../store.ts';

/** More sources than this are not remembered: those whose last change is oldest go first. */
const mostSources = 100_000;

/** What sources of attempts have tried, in memory. */
export class MemoryGuessCounters {
  readonly #now: () => number;
  readonly #tried = new Map<string, GuessCounter>();
  /** Those without attempts: however many there are, none with attempts is forgotten for them. */
  readonly #idle = new Map<string, GuessCounter>();

  /** `now` is the store's time. */
  constructor(now: () => number) {
    this.#now = now;
  }

  change<T>(sources: readonly string[], change: GuessCounterChange<T>): T {
    const known = sources.map((source) => this.#tried.get(source) ?? this.#idle.get(source));
    const { attempts, result } = change(known, this.#now());
    for (const [place, source] of sources.entries()) {
      const next = attempts[place];
      if (next !== undefined && next !== known[place]) this.#remember(source, next);
    }
    return result;
  }

  #remember(source: string, attempts: GuessCounter): void {
    this.#tried.delete(source);
    this.#idle.delete(source);
    const place = attempts.times.length > 0 ? this.#tried : this.#idle;
    place.set(source, attempts);
    if (place.size > mostSources) place.delete(place.keys().next().value as string);
  }
}
