import { type Clock, secondMs } from '../../domain/clock.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';

/** Pause between two rounds. */
const pauseMs = 5;
/**
 * Maximum time since the last round that counts towards the size of a round. Avoids a burst after
 * an idle period.
 */
const maxMadeUpMs = 20;

/**
 * Rate limiter for work that becomes due for many devices at the same moment. Work begins at once
 * if no round is in progress and no pause has begun. Otherwise work begins in rounds. A round
 * begins after the previous round has ended.
 */
export class Turns<T> {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #work: (one: T) => MaybePromise<void>;
  #waiting: T[] = [];
  #inProgress = 0;
  #isPausing = false;
  #roundAtMs = 0;
  #drainByMs: number | undefined;

  /**
   * @param perSecond maximum number of entries whose work begins in a second
   * @param work does the work of one entry, and never rejects
   */
  constructor(clock: Clock, perSecond: number, work: (one: T) => MaybePromise<void>) {
    this.#clock = clock;
    this.#perMs = perSecond / secondMs;
    this.#work = work;
  }

  add(one: T): void {
    this.#waiting.push(one);
    if (this.#inProgress === 0 && !this.#isPausing) this.#nextRound();
  }

  /**
   * Raises the rate so that the work of all entries begins within `forMs`. Further calls change
   * nothing.
   */
  drainWithin(forMs: number): void {
    this.#drainByMs ??= this.#clock.now() + forMs;
  }

  /** Returns the number of entries in the next round, for the time since the last round. */
  #roundSize(): number {
    const nowMs = this.#clock.now();
    const sinceMs = Math.min(maxMadeUpMs, Math.max(0, nowMs - this.#roundAtMs));
    this.#roundAtMs = nowMs;
    const usual = Math.max(1, sinceMs * this.#perMs);
    if (this.#drainByMs === undefined) return usual;
    const leftMs = Math.max(sinceMs, this.#drainByMs - nowMs, 1);
    return Math.max(usual, Math.ceil((this.#waiting.length * sinceMs) / leftMs));
  }

  #nextRound(): void {
    const round = this.#waiting.splice(0, this.#roundSize());
    this.#inProgress = round.length;
    for (const one of round) void Promise.resolve(this.#work(one)).then(() => this.#end());
  }

  #end(): void {
    this.#inProgress--;
    if (this.#inProgress > 0) return;
    this.#isPausing = true;
    this.#clock.after(pauseMs, () => {
      this.#isPausing = false;
      this.#nextRound();
    });
  }
}
