import type { Clock } from '../../domain/clock.ts';
import type { ConcurrencyLimiter } from '../fleet/limiter.ts';

/** The time of one simulated TV. */
export interface VirtualClock extends Clock {
  /** The TV's time stands still until the work is done: what the service takes for an answer is no time of a fast TV. */
  hold<T>(work: () => Promise<T>): Promise<T>;
}

export interface VirtualClockOptions {
  /** Seconds of the TV in one of the wall's; with 1 the TV has the wall's time, with `Infinity` it never waits. */
  speed: number;
  /** The TV's time at the beginning, Unix epoch milliseconds; not for a TV that has the wall's time. */
  startMs: number;
  wall: Clock;
  /** Held clocks of all TVs that share it count as busy, and where too many are, this one waits. Without it, it never does. */
  turnstile?: ConcurrencyLimiter;
}

interface Timer {
  dueMs: number;
  wake: () => void;
}

/** Node's timers take no more than 2^31 milliseconds. */
const longestWaitMs = 2 ** 30;

/** Has the next macrotask in between, so that all that follows from the last step has been done by itself. */
const soon = (step: () => void) => {
  const planned = setImmediate(step);
  return () => clearImmediate(planned);
};

/**
 * A time of its own that leaps from timer to timer, each at its place on the wall's clock or at once when that is past. As it stands still while
 * it is held, what a TV does follows from its seed and the answers that it gets, never from how long they took.
 */
class FastClock implements VirtualClock {
  readonly #speed: number;
  readonly #wall: Clock;
  readonly #startMs: number;
  readonly #wallStartMs: number;
  readonly #turnstile: ConcurrencyLimiter | undefined;
  readonly #timers = new Set<Timer>();
  #nowMs: number;
  #held = 0;
  #cancelStep: (() => void) | undefined;

  constructor({ speed, startMs, wall, turnstile }: VirtualClockOptions) {
    this.#speed = speed;
    this.#wall = wall;
    this.#turnstile = turnstile;
    this.#startMs = startMs;
    this.#nowMs = startMs;
    this.#wallStartMs = wall.now();
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, wake: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), wake };
    // What is never due must not draw the time after it.
    if (!Number.isFinite(timer.dueMs)) return () => {};
    this.#timers.add(timer);
    this.#plan();
    return () => {
      if (this.#timers.delete(timer) && this.#timers.size === 0) this.#plan();
    };
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held++;
    this.#turnstile?.enter();
    try {
      return await work();
    } finally {
      this.#held--;
      this.#turnstile?.leave();
      this.#plan();
    }
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
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
    this.#cancelStep =
      waitMs > 0 ? this.#wall.after(Math.min(waitMs, longestWaitMs), step) : soon(step);
  }

  #waitMs({ dueMs }: Timer): number {
    return this.#wallStartMs + (dueMs - this.#startMs) / this.#speed - this.#wall.now();
  }

  #step(isAdmitted = this.#turnstile?.isOpen ?? true): void {
    this.#cancelStep = undefined;
    const next = this.#held === 0 ? this.#next() : undefined;
    if (!next) return;
    if (!isAdmitted) {
      this.#cancelStep = this.#turnstile?.wait(() => this.#step(true));
      return;
    }
    // It is not when the one that this step was planned for was cancelled, or is very far.
    if (this.#waitMs(next) <= 0) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.wake();
    }
    this.#plan();
  }
}

/** The wall's time; waits may be longer than its timers can be. */
function wallTime(wall: Clock): VirtualClock {
  function after(delayMs: number, wake: () => void): () => void {
    if (delayMs <= longestWaitMs) return wall.after(delayMs, wake);
    let cancel = wall.after(longestWaitMs, () => {
      cancel = after(delayMs - longestWaitMs, wake);
    });
    return () => cancel();
  }
  return { now: () => wall.now(), after, hold: (work) => work() };
}

/** Makes the clock of one TV, which begins to run at once. */
export function makeVirtualClock(options: VirtualClockOptions): VirtualClock {
  return options.speed === 1 ? wallTime(options.wall) : new FastClock(options);
}
