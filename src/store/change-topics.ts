/** Watchers by topic. Topics are `codes/<row id>` and `events/<tenant id>`. */
export class ChangeTopics {
  readonly #wakers = new Map<string, Set<() => void>>();

  watch(topic: string, wake: () => void): () => void {
    // A new function per call, so that the same `wake` can be registered twice.
    const waker = () => wake();
    const wakers = this.#wakers.get(topic) ?? new Set();
    this.#wakers.set(topic, wakers.add(waker));
    return () => {
      wakers.delete(waker);
      if (wakers.size === 0 && this.#wakers.get(topic) === wakers) this.#wakers.delete(topic);
    };
  }

  /** Wakes all watchers. Call it when the changed topics are unknown. */
  allChanged(): void {
    for (const topic of this.#wakers.keys()) this.changed(topic);
  }

  /**
   * Wakes the topic's watchers in microtasks, so that they neither delay the writer nor throw into
   * it.
   */
  changed(topic: string): void {
    for (const wake of this.#wakers.get(topic) ?? []) queueMicrotask(wake);
  }
}
