import type { Clock } from '../../domain/clock.ts';
import type { OnDemandAnswer } from '../origin.ts';

/**
 * Memory limit: 10,000 screens with playlists of 50 items. Beyond it the oldest answers are evicted
 * early.
 */
const maxBytes = 128 * 1024 * 1024;
/** Memory of an entry besides its items. */
const overheadBytes = 200;

interface Entry {
  answer: OnDemandAnswer;
  storedMs: number;
  bytes: number;
}

/**
 * Cache of answers by screen, with a TTL of `ttlMs` and a memory limit. If the clock is set back,
 * entries expire early rather than late.
 *
 * Not a library: with one TTL for all, the oldest entries are the first of a `Map`. lru-cache is
 * 3.6 MB and uses its own clock.
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
    this.#evict(screenId);
    const bytes = overheadBytes + (answer.content?.items.length ?? 0);
    this.#entries.set(screenId, { answer, storedMs: this.#clock.now(), bytes });
    this.#bytes += bytes;
    for (const [id, entry] of this.#entries) {
      if (this.#isFresh(entry) && this.#bytes <= maxBytes) return;
      this.#evict(id);
    }
  }

  #isFresh({ storedMs }: Entry): boolean {
    const ageMs = this.#clock.now() - storedMs;
    return ageMs >= 0 && ageMs < this.#ttlMs;
  }

  #evict(screenId: string): void {
    this.#bytes -= this.#entries.get(screenId)?.bytes ?? 0;
    this.#entries.delete(screenId);
  }
}
