import type { Clock } from '../../domain/clock.ts';
import type { OnDemandAnswer } from '../origin.ts';

/** What 10,000 screens with playlists of 50 items take. Beyond it the oldest go early, and are asked for again. */
const mostBytes = 128 * 1024 * 1024;
/** What an entry takes beside its items. */
const overheadBytes = 200;

interface Entry {
  answer: OnDemandAnswer;
  atMs: number;
  bytes: number;
}

/**
 * Holds answers by screen, each for `ttlMs`, bounded in memory. A clock that is set back ends what it holds early rather than late.
 *
 * Own code, for all of them live equally long: the oldest are the first of a `Map`, and a library (lru-cache) is 3.6 MB and keeps its own time.
 */
export class AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #ttlMs: number;
  #bytes = 0;

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  get(screenId: string): OnDemandAnswer | undefined {
    const entry = this.#entries.get(screenId);
    return entry && this.#isFresh(entry) ? entry.answer : undefined;
  }

  set(screenId: string, answer: OnDemandAnswer): void {
    if (this.#ttlMs === 0) return;
    this.#drop(screenId);
    const bytes = overheadBytes + (answer.content?.items.length ?? 0);
    this.#entries.set(screenId, { answer, atMs: this.#clock.now(), bytes });
    this.#bytes += bytes;
    for (const [id, entry] of this.#entries) {
      if (this.#isFresh(entry) && this.#bytes <= mostBytes) return;
      this.#drop(id);
    }
  }

  #isFresh({ atMs }: Entry): boolean {
    const ageMs = this.#clock.now() - atMs;
    return ageMs >= 0 && ageMs < this.#ttlMs;
  }

  #drop(screenId: string): void {
    this.#bytes -= this.#entries.get(screenId)?.bytes ?? 0;
    this.#entries.delete(screenId);
  }
}
