/** When something was due on screens. Times are in Unix epoch milliseconds. */
export class DueTimes {
  /** Starts and ends in turn, in order, of each screen. */
  readonly #limits = new Map<string, number[]>();

  /** Adds a time that begins at the end of the last one, or later. */
  add(screenId: string, fromMs: number, untilMs: number): void {
    const limits = this.#limits.get(screenId) ?? [];
    if (limits.at(-1) === fromMs) limits[limits.length - 1] = untilMs;
    else limits.push(fromMs, untilMs);
    this.#limits.set(screenId, limits);
  }

  /** Returns for how long something was due between two times. */
  between(screenId: string, fromMs: number, untilMs: number): number {
    const limits = this.#limits.get(screenId) ?? [];
    let sum = 0;
    for (let at = this.#firstEndAfter(limits, fromMs); at < limits.length; at += 2) {
      const startMs = Math.max(fromMs, limits[at - 1] as number);
      if (startMs >= untilMs) break;
      sum += Math.min(untilMs, limits[at] as number) - startMs;
    }
    return sum;
  }

  /** Returns the place of the first end after a time. */
  #firstEndAfter(limits: readonly number[], timeMs: number): number {
    let low = 0;
    let high = limits.length / 2;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((limits[2 * middle + 1] as number) > timeMs) high = middle;
      else low = middle + 1;
    }
    return 2 * low + 1;
  }
}
