import { type Clock, secondMs } from '../../domain/clock.ts';

/** Pause between two rounds. */
const pauseMs = 5;
/** Longest time for which a round makes up, so that a pause causes no burst. */
const maxMadeUpMs = 20;

/**
 * Spreads work that becomes due for many at the same moment. A single turn begins at once. Further
 * turns begin in rounds, each after the round before has ended.
 */
export class Turns<T> {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #work: (one: T) => Promise<void>;
  #waiting: T[] = [];
  #inProgress = 0;
  #isPausing = false;
  #roundAtMs = 0;
  #drainByMs: number | undefined;

  /**
   * @param perSecond number of turns that begin in a second
   * @param work does the work of one turn, and never rejects
   */
  constructor(clock: Clock, perSecond: number, work: (one: T) => Promise<void>) {
    this.#clock = clock;
    this.#perMs = perSecond / secondMs;
    this.#work = work;
  }

  add(one: T): void {
    this.#waiting.push(one);
    if (this.#inProgress === 0 && !this.#isPausing) this.#nextRound();
  }

  /** Raises the rate so that all turns begin within `forMs`. Further calls change nothing. */
  drainWithin(forMs: number): void {
    this.#drainByMs ??= this.#clock.now() + forMs;
  }

  /** Returns the size of a round that makes up for the time since the last one. */
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
