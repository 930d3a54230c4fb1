interface WaitingItem<I, A> {
  item: I;
  resolve(result: A | Promise<A>): void;
  reject(error: unknown): void;
}

interface BatchLimits<I> {
  /**
   * Maximum number of groups processed concurrently. With 2, the next group is sent while one is in
   * progress.
   */
  concurrency: number;
  maxItems: number;
  /** Maximum total weight of a group. A single item may exceed it. */
  maxWeight?: number;
  weightOf?: (item: I) => number;
}

/**
 * Batches items that arrive in the same event loop turn or while the maximum number of groups is in
 * progress.
 */
export class Batcher<I, A> {
  readonly #limits: BatchLimits<I>;
  readonly #work: (items: readonly I[]) => Promise<readonly (A | Promise<A>)[]>;
  readonly #waiting: WaitingItem<I, A>[] = [];
  readonly #drains = new Set<Promise<void>>();

  /**
   * @param work returns a result for each item, in order. If it throws, all items of the group are
   * rejected.
   */
  constructor(
    limits: BatchLimits<I>,
    work: (items: readonly I[]) => Promise<readonly (A | Promise<A>)[]>,
  ) {
    this.#limits = limits;
    this.#work = work;
  }

  add(item: I): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#drains.size < this.#limits.concurrency) this.#startDrain();
    });
  }

  /** Waits for pending items. */
  async settled(): Promise<void> {
    await Promise.all(this.#drains);
  }

  #startDrain(): void {
    // Starts after the items of the same event loop turn have arrived.
    const drain: Promise<void> = Promise.resolve().then(() =>
      this.#drain(() => this.#drains.delete(drain)),
    );
    this.#drains.add(drain);
  }

  /**
   * Processes groups until no items are left. Calls `close` synchronously after the last check, so
   * an item that arrives later starts a new drain.
   */
  async #drain(close: () => void): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#take();
      try {
        const results = await this.#work(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as A);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    close();
  }

  #take(): WaitingItem<I, A>[] {
    const { maxItems, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = this.#limits;
    let weight = 0;
    let count = 0;
    for (const { item } of this.#waiting.slice(0, maxItems)) {
      weight += weightOf(item);
      if (count > 0 && weight > maxWeight) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }
}
