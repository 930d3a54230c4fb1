/** Work that is done again and again, one at a time: all who ask for it while it is under way get one more that begins after. */
export class SingleFlight {
  readonly #work: () => Promise<void>;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves, or fails, with a run that began after this call. */
  run(): Promise<void> {
    this.#next ??= this.#runAfter(this.#current);
    return this.#next;
  }

  /** Resolves once nothing is under way any more, however it ended. */
  async idle(): Promise<void> {
    for (let last = this.#next ?? this.#current; last; last = this.#next)
      await last.catch(() => {});
  }

  async #runAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    [this.#current, this.#next] = [this.#next, undefined];
    await this.#work();
  }
}
