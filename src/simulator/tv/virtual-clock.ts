import type { Clock } from '../../domain/clock.ts';
import type { PlayerClock } from '../../player/options.ts';

/**
 * Limits the number of TVs with a request in flight. The other TVs wait before their next step.
 * This backpressure makes a fast fleet as slow as a slow service, so that requests do not pile up.
 */
export class ConcurrencyLimiter {
  readonly #limit: number;
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>();
  #busy = 0;
  #isAdmitting = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a step may run now: fewer TVs than the limit are busy, and no other step waits. */
  get isOpen(): boolean {
    return this.#hasRoom && this.#waiting.size === 0;
  }

  /**
   * Calls `step` once fewer TVs than the limit are busy, first come, first served. Returns a
   * function that cancels the wait.
   */
  wait(step: () => void): () => void {
    // A new function each time, because the same step may wait more than once.
    const waiting = () => step();
    this.#waiting.add(waiting);
    this.#admit();
    return () => void this.#waiting.delete(waiting);
  }

  enter(): void {
    this.#busy++;
  }

  leave(): void {
    this.#busy--;
    this.#admit();
  }

  get #hasRoom(): boolean {
    return this.#busy < this.#limit;
  }

  /**
   * Admits one step per macrotask, so that a step can call `enter` and is counted before the next
   * step is admitted.
   */
  #admit(): void {
    if (this.#isAdmitting || !this.#hasRoom || this.#waiting.size === 0) return;
    this.#isAdmitting = true;
    setImmediate(() => {
      this.#isAdmitting = false;
      const [step] = this.#waiting;
      if (step && this.#hasRoom) {
        this.#waiting.delete(step);
        step();
      }
      this.#admit();
    });
  }
}

/** The clock of one simulated TV. It stops during requests, unless it shows real time. */
export type VirtualClock = Required<PlayerClock>;

export interface VirtualClockOptions {
  /**
   * Simulated seconds per real second. With 1, the clock shows real time. With `Infinity`, its
   * timers fire without real delay.
   */
  speed: number;
  /** Initial time, in Unix epoch milliseconds. Ignored if `speed` is 1. */
  startMs: number;
  /** Real time. */
  wall: Clock;
  /**
   * Shared by the clocks of all TVs. A held clock counts as busy, and this clock waits while too
   * many clocks are busy. Default: no limit.
   */
  limiter?: ConcurrencyLimiter;
}

interface VirtualTimer {
  dueMs: number;
  wake: () => void;
}

/**
 * Runs `step` in a later macrotask, so that all consequences of the previous step have completed.
 */
const soon = (step: () => void) => {
  const planned = setImmediate(step);
  return () => clearImmediate(planned);
};

/**
 * A simulated clock that jumps from timer to timer. A timer fires at the real time that corresponds
 * to its simulated time, or at once if that is past. A held clock stops, so a TV's behaviour
 * depends on its seed and the responses, but not on response times. When the hold ends, the clock
 * catches up, so that a TV plays as much as a real TV. A delay that begins after a successful hold
 * is therefore shorter in real time. A delay that begins after a failed hold is not, because the
 * service may require it (`Retry-After`).
 */
class FastClock implements VirtualClock {
  readonly #speed: number;
  readonly #wall: Clock;
  readonly #startMs: number;
  readonly #wallStartMs: number;
  readonly #limiter: ConcurrencyLimiter | undefined;
  readonly #timers = new Set<VirtualTimer>();
  #nowMs: number;
  #held = 0;
  /** Simulated time by the wall at the end of the last failed hold. 0 after a timer has fired. */
  #failedAtMs = 0;
  #cancelStep: (() => void) | undefined;

  constructor({ speed, startMs, wall, limiter }: VirtualClockOptions) {
    this.#speed = speed;
    this.#wall = wall;
    this.#limiter = limiter;
    this.#startMs = startMs;
    this.#nowMs = startMs;
    this.#wallStartMs = wall.now();
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, wake: () => void): () => void {
    const startMs = Math.max(this.#nowMs, this.#failedAtMs);
    const timer = { dueMs: startMs + Math.max(0, delayMs), wake };
    // An infinite delay never fires and must not advance the clock.
    if (!Number.isFinite(timer.dueMs)) return () => {};
    this.#timers.add(timer);
    this.#plan();
    return () => {
      if (this.#timers.delete(timer) && this.#timers.size === 0) this.#plan();
    };
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held++;
    this.#limiter?.enter();
    try {
      return await work();
    } catch (error) {
      if (Number.isFinite(this.#speed)) this.#failedAtMs = this.#wallTimeMs();
      throw error;
    } finally {
      this.#held--;
      this.#limiter?.leave();
      this.#plan();
    }
  }

  /** Returns the simulated time that corresponds to the real time. */
  #wallTimeMs(): number {
    return this.#startMs + (this.#wall.now() - this.#wallStartMs) * this.#speed;
  }

  #next(): VirtualTimer | undefined {
    let next: VirtualTimer | undefined;
    for (const timer of this.#timers) if (!next || timer.dueMs < next.dueMs) next = timer;
    return next;
  }

  #plan(): void {
    this.#cancelStep?.();
    this.#cancelStep = undefined;
    const next = this.#held === 0 ? this.#next() : undefined;
    if (!next) return;
    const waitMs = this.#waitMs(next);
    const step = () => this.#step();
    this.#cancelStep = waitMs > 0 ? this.#wall.after(waitMs, step) : soon(step);
  }

  #waitMs({ dueMs }: VirtualTimer): number {
    return this.#wallStartMs + (dueMs - this.#startMs) / this.#speed - this.#wall.now();
  }

  #step(isAdmitted = this.#limiter?.isOpen ?? true): void {
    this.#cancelStep = undefined;
    const next = this.#held === 0 ? this.#next() : undefined;
    if (!next) return;
    if (!isAdmitted) {
      this.#cancelStep = this.#limiter?.wait(() => this.#step(true));
      return;
    }
    // False if the timer of this step was cancelled, and the next timer is due later.
    if (this.#waitMs(next) <= 0) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#failedAtMs = 0;
      next.wake();
    }
    this.#plan();
  }
}

/** Makes the clock of one TV. The clock starts at once. */
export function makeVirtualClock(options: VirtualClockOptions): VirtualClock {
  const { speed, wall } = options;
  if (speed !== 1) return new FastClock(options);
  return {
    now: () => wall.now(),
    after: (delayMs, wake) => wall.after(delayMs, wake),
    hold: (work) => work(),
  };
}
