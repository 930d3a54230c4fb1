/**
 * Lets only so many TVs be busy at a time. The others stand still before their next step, where they cost nothing: a service that is slower than
 * a fast fleet makes the fleet slower, and not larger.
 */
export class ConcurrencyLimiter {
  readonly #limit: number;
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>();
  #busy = 0;
  #isAdmitting = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a step may be made now: there is room, and nobody waits for it. */
  get isOpen(): boolean {
    return this.#hasRoom && this.#waiting.size === 0;
  }

  /** Calls `step` when it is its turn; the returned function cancels. */
  wait(step: () => void): () => void {
    // Another function each time, for a step may wait more than once.
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

  /** One at a time, and the next not before it has turned out whether that one is busy now. */
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
