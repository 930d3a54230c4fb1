import type { Clock } from '../../domain/clock.ts';

/** Length of a step. Entries that are due within the same step share a timer. */
export const timerStepMs = 100;

interface SharedTimer<T> {
  entries: Set<T>;
  cancel: () => void;
}

/** Rounds a time up to the end of its step. */
export const timerStepOf = (atMs: number): number => Math.ceil(atMs / timerStepMs) * timerStepMs;

/** Timers for many entries. Calls `onDue` for each entry at the end of its step. */
export class SharedTimers<T> {
  readonly #clock: Clock;
  readonly #onDue: (entry: T) => void;
  /** Timers by the end of their step, in epoch milliseconds. */
  readonly #timers = new Map<number, SharedTimer<T>>();

  constructor(clock: Clock, onDue: (entry: T) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** @param step a result of `timerStepOf` */
  add(entry: T, step: number): void {
    const timer = this.#timers.get(step) ?? this.#start(step);
    timer.entries.add(entry);
  }

  delete(entry: T, step: number): void {
    const timer = this.#timers.get(step);
    if (!timer?.entries.delete(entry) || timer.entries.size > 0) return;
    timer.cancel();
    this.#timers.delete(step);
  }

  #start(step: number): SharedTimer<T> {
    const delayMs = Math.max(0, step - this.#clock.now());
    const cancel = this.#clock.after(delayMs, () => this.#fire(step));
    const timer = { entries: new Set<T>(), cancel };
    this.#timers.set(step, timer);
    return timer;
  }

  #fire(step: number): void {
    const timer = this.#timers.get(step);
    this.#timers.delete(step);
    for (const entry of timer?.entries ?? []) this.#onDue(entry);
  }
}
