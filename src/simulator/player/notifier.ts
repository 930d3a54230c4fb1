import type { Clock } from '../../domain/clock.ts';

/** Lets one loop wait until something happened. It remembers nothing: look whether there is anything to do, then wait. */
export class Notifier {
  #wake: (() => void) | undefined;

  /** Resolves at the next ring. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Waits so long, or until a ring after which it need not go on; answers whether it was all of the time. */
  async waitFor(clock: Clock, forMs: number, goesOn: () => boolean): Promise<boolean> {
    let isOver = false;
    const cancel = clock.after(forMs, () => {
      isOver = true;
      this.ring();
    });
    while (!isOver && goesOn()) await this.wait();
    cancel();
    return isOver;
  }

  ring(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
