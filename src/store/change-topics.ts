const anyTopic = '*';

type Wake = (topic: string) => void;

/** Watchers by topic. For the topics, see the comment of `Store.watch`. */
export class ChangeTopics {
  readonly #wakers = new Map<string, Set<Wake>>();

  watch(topic: string, wake: Wake): () => void {
    // A new function per call, so that the same `wake` can be registered twice.
    const waker: Wake = (changed) => wake(changed);
    const wakers = this.#wakers.get(topic) ?? new Set();
    this.#wakers.set(topic, wakers.add(waker));
    return () => {
      wakers.delete(waker);
      if (wakers.size === 0 && this.#wakers.get(topic) === wakers) this.#wakers.delete(topic);
    };
  }

  /** Wakes the watchers of all topics that match. Call it when the changed topics are unknown. */
  allChanged(matching = /^/): void {
    for (const topic of this.#wakers.keys()) if (matching.test(topic)) this.#wake(topic, topic);
  }

  /**
   * Wakes the topic's watchers in microtasks, so that they neither delay the writer nor throw into
   * it.
   */
  changed(topic: string): void {
    this.#wake(topic, topic);
    this.#wake(anyTopic, topic);
  }

  #wake(watched: string, changed: string): void {
    for (const wake of this.#wakers.get(watched) ?? []) queueMicrotask(() => wake(changed));
  }
}
