/** Who waits for what: `codes/<row id>`, `events/<tenant id>`. */
export class ChangeTopics {
  readonly #wakers = new Map<string, Set<() => void>>();

  watch(topic: string, wake: () => void): () => void {
    // Wrapped, so that one function may watch twice.
    const waker = () => wake();
    const wakers = this.#wakers.get(topic) ?? new Set();
    this.#wakers.set(topic, wakers.add(waker));
    return () => {
      wakers.delete(waker);
      if (wakers.size === 0 && this.#wakers.get(topic) === wakers) this.#wakers.delete(topic);
    };
  }

  /** Nobody knows what has changed. */
  allChanged(): void {
    for (const topic of this.#wakers.keys()) this.changed(topic);
  }

  /** Wakes when the call stack is done: whoever watches must not hold up, or fail, the writer. */
  changed(topic: string): void {
    for (const wake of this.#wakers.get(topic) ?? []) queueMicrotask(wake);
  }
}
