/** Limits how many files are sent at a time. Further requests wait in order. */
export class StreamLimit {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #active = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Waits for a place. Returns a function that frees it, once. `gone` aborts when the client
   * disconnects; the place is then free at once.
   */
  async enter(gone: AbortSignal): Promise<() => void> {
    if (this.#active >= this.#max)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#active++;
    let isFree = false;
    const leave = () => {
      if (isFree) return;
      isFree = true;
      gone.removeEventListener('abort', leave);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#active--;
    };
    gone.addEventListener('abort', leave);
    if (gone.aborted) leave();
    return leave;
  }
}
