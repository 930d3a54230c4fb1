interface Waiting<I, A> {
  item: I;
  resolve(answer: A | Promise<A>): void;
  reject(error: unknown): void;
}

interface How<I> {
  /** Groups under way at a time: while one is being done, the next is on its way. */
  lanes: number;
  /** Items of one group. */
  most: number;
  /** What a group's items may weigh together; one alone may weigh more. */
  mostWeight?: number;
  weightOf?: (item: I) => number;
}

/** Does together what is asked for in the same turn of the event loop, or while others are being done. */
export class Batcher<I, A> {
  readonly #how: How<I>;
  readonly #work: (items: readonly I[]) => Promise<readonly (A | Promise<A>)[]>;
  readonly #waiting: Waiting<I, A>[] = [];
  readonly #lanes = new Set<Promise<void>>();

  /** `work` answers for each item, in their order. What it throws, all of them get. */
  constructor(how: How<I>, work: (items: readonly I[]) => Promise<readonly (A | Promise<A>)[]>) {
    this.#how = how;
    this.#work = work;
  }

  do(item: I): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#lanes.size < this.#how.lanes) this.#open();
    });
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#lanes);
  }

  #open(): void {
    // After those that come in the same turn of the event loop.
    const lane: Promise<void> = Promise.resolve().then(() =>
      this.#drain(() => this.#lanes.delete(lane)),
    );
    this.#lanes.add(lane);
  }

  /** Calls `close` in the same turn in which nothing waits any more: whoever comes later opens another lane. */
  async #drain(close: () => void): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#take();
      try {
        const answers = await this.#work(group.map(({ item }) => item));
        for (const [place, { resolve }] of group.entries()) resolve(answers[place] as A);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    close();
  }

  #take(): Waiting<I, A>[] {
    const { most, mostWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = this.#how;
    let weight = 0;
    let count = 0;
    for (const { item } of this.#waiting.slice(0, most)) {
      weight += weightOf(item);
      if (count > 0 && weight > mostWeight) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }
}
