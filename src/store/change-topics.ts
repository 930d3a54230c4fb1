/** Watchers by topic. Topics are `codes/<row id>` and `events/<tenant id>`. */
export class ChangeTopics {
  readonly #wakers = new Map<string, Set<() => void>>();

  watch(topic: string, wake: () => void): () => void {
    // A wrapper, so that the same function can watch twice.
    const waker = () => wake();
    const wakers = this.#wakers.get(topic) ?? new Set();
    this.#wakers.set(topic, wakers.add(waker));
    return () => {
      wakers.delete(waker);
      if (wakers.size === 0 && this.#wakers.get(topic) === wakers) this.#wakers.delete(topic);
    };
  }

  /** Wakes all watchers, for when the changed topics are unknown. */
  allChanged(): void {
    for (const topic of this.#wakers.keys()) this.changed(topic);
  }

  /** Wakes watchers in a microtask, so that they can neither delay nor fail the writer. */
  changed(topic: string): void {
    for (const wake of this.#wakers.get(topic) ?? []) queueMicrotask(wake);
  }
}
