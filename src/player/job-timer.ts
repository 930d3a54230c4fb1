import type { Clock } from '../domain/clock.ts';

/**
 * Wakes one waiting loop. A notification is lost if no loop waits for it. So a loop must check for
 * work before each wait.
 */
export class WakeUp {
  #wake: (() => void) | undefined;

  /** Resolves at the next notification. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Waits for `forMs`. Calls `shouldContinue` at the start and after each notification, and ends
   * early if it returns false. Returns whether the whole time elapsed.
   */
  async waitFor(clock: Clock, forMs: number, shouldContinue: () => boolean): Promise<boolean> {
    let hasElapsed = false;
    const cancel = clock.after(forMs, () => {
      hasElapsed = true;
      this.notify();
    });
    while (!hasElapsed && shouldContinue()) await this.wait();
    cancel();
    return hasElapsed;
  }

  /**
   * Waits for the work. Calls `shouldContinue` at the start and after each notification, and ends
   * early if it returns false.
   */
  async waitForWork(work: Promise<unknown>, shouldContinue: () => boolean): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
      this.notify();
    };
    work.then(end, end);
    while (!isOver && shouldContinue()) await this.wait();
  }

  notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** Time at which a job is due. After a failure, that is the end of the backoff. */
export class JobTimer {
  isDue = false;
  /** Failures in a row. */
  failures = 0;
  readonly #clock: Clock;
  readonly #wakeUp: WakeUp;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, wakeUp: WakeUp) {
    this.#clock = clock;
    this.#wakeUp = wakeUp;
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
    this.#wakeUp.notify();
  }
}
