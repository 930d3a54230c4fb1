import type { Clock } from '../../domain/clock.ts';
import type { Notifier } from './notifier.ts';

/** When one kind of call is due again. After a failure it is held: nothing makes it due before its time. */
export class Schedule {
  isDue = false;
  /** Failures in a row. */
  failures = 0;
  readonly #clock: Clock;
  readonly #bell: Notifier;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, bell: Notifier) {
    this.#clock = clock;
    this.#bell = bell;
  }

  get isWaiting(): boolean {
    return this.#cancel !== undefined;
  }

  /** Due in so long; a wait that runs already is forgotten. */
  dueIn(delayMs: number): void {
    this.stop();
    if (delayMs <= 0) this.#fallDue();
    else this.#cancel = this.#clock.after(delayMs, () => this.#fallDue());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.isDue = false;
  }

  #fallDue(): void {
    this.#cancel = undefined;
    this.isDue = true;
    this.#bell.ring();
  }
}
