import type { Clock } from '../../domain/clock.ts';
import type { Notifier } from './notifier.ts';

/** When one kind of call is due. After a failure, the backoff is the wait. */
export class Schedule {
  isDue = false;
  /** Failures in a row. */
  failures = 0;
  readonly #clock: Clock;
  readonly #notifier: Notifier;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, notifier: Notifier) {
    this.#clock = clock;
    this.#notifier = notifier;
  }

  get isWaiting(): boolean {
    return this.#cancel !== undefined;
  }

  /** Becomes due after this delay. Replaces a pending wait. */
  dueIn(delayMs: number): void {
    this.stop();
    if (delayMs <= 0) this.#becomeDue();
    else this.#cancel = this.#clock.after(delayMs, () => this.#becomeDue());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.isDue = false;
  }

  #becomeDue(): void {
    this.#cancel = undefined;
    this.isDue = true;
    this.#notifier.notify();
  }
}
