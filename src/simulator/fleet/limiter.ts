/**
 * Limits how many TVs have a request in flight. The others wait before their next step:
 * backpressure, so that a slow service slows a fast fleet down and requests do not pile up.
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

  /** Whether a step may run now: there is capacity, and no other step waits. */
  get isOpen(): boolean {
    return this.#hasRoom && this.#waiting.size === 0;
  }

  /**
   * Calls `step` once there is capacity, first come, first served. The returned function cancels.
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

  /** Admits one step at a time. The next one waits until it is known whether the step entered. */
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
