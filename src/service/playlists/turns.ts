import { type Clock, secondMs } from '../../domain/clock.ts';

/** Pause between two rounds. */
const pauseMs = 5;
/** Maximum number of entries in a round, so that a burst does not block the event loop. */
const maxRound = 100;

export interface TurnLimits {
  /** Maximum number of entries whose work begins in a second, in the long run. */
  perSecond: number;
  /** Number of entries that may begin beyond that rate after an idle period. */
  burst: number;
}

/**
 * Token bucket for work that becomes due for many devices at the same moment. Work begins at once
 * if no round is in progress and no pause has begun. Otherwise work begins in rounds. A round
 * begins after the previous round has ended.
 */
export class Turns<T> {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  readonly #work: (one: T) => Promise<void>;
  #waiting: T[] = [];
  #inProgress = 0;
  #isPausing = false;
  #roundAtMs = 0;
  #tokens: number;
  #drainByMs: number | undefined;

  /** @param work does the work of one entry, and never rejects */
  constructor(clock: Clock, { perSecond, burst }: TurnLimits, work: (one: T) => Promise<void>) {
    this.#clock = clock;
    this.#perMs = perSecond / secondMs;
    this.#burst = burst;
    this.#tokens = burst;
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

  /** Returns the number of entries in the next round. */
  #roundSize(): number {
    const nowMs = this.#clock.now();
    const sinceMs = Math.max(0, nowMs - this.#roundAtMs);
    this.#roundAtMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + sinceMs * this.#perMs);
    const usual = Math.max(1, Math.min(maxRound, Math.floor(this.#tokens)));
    if (this.#drainByMs === undefined) return usual;
    const leftMs = Math.max(1, this.#drainByMs - nowMs);
    const roundMs = Math.min(pauseMs, leftMs);
    return Math.max(usual, Math.ceil((this.#waiting.length * roundMs) / leftMs));
  }

  #nextRound(): void {
    const round = this.#waiting.splice(0, this.#roundSize());
    this.#tokens -= round.length;
    this.#inProgress = round.length;
    for (const one of round) void this.#work(one).then(() => this.#end());
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
