/** Lets those who are after the same thing go one after another, and all others side by side. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(thing: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(thing) ?? Promise.resolve()).then(work);
    const over = turn.catch(() => undefined);
    this.#last.set(thing, over);
    try {
      return await turn;
    } finally {
      if (this.#last.get(thing) === over) this.#last.delete(thing);
    }
  }
}
