import type { Clock } from '../../domain/clock.ts';

/**
 * Wakes one waiting loop. A notification without a waiter is lost, so check for work before each
 * wait.
 */
export class Notifier {
  #wake: (() => void) | undefined;

  /** Resolves at the next notification. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Waits `forMs`, or until a notification after which `shouldContinue` is false. Returns whether
   * the whole time elapsed.
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

  notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
