/**
 * Single flight: runs work one at a time. All callers that arrive during a run share the next one.
 */
export class SingleFlight {
  readonly #work: () => Promise<void>;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Settles with a run that began after this call. */
  run(): Promise<void> {
    this.#next ??= this.#runAfter(this.#current);
    return this.#next;
  }

  /** Resolves once no run is pending, whether it succeeded or failed. */
  async idle(): Promise<void> {
    for (let last = this.#next ?? this.#current; last; last = this.#next)
      await last.catch(() => {});
  }

  async #runAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    this.#current = this.#next;
    this.#next = undefined;
    await this.#work();
  }
}
