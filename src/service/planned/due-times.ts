import type { Interval } from '../../calendar/schedule-spans.ts';

/** When something was due on screens. Times are in Unix epoch milliseconds. */
export class DueTimes {
  readonly #times = new Map<string, Interval[]>();
  /** Screens whose times are in order. */
  readonly #sorted = new Set<string>();

  /** Adds a time, before the first question. The times of a screen do not overlap. */
  add(screenId: string, fromMs: number, untilMs: number): void {
    const times = this.#times.get(screenId) ?? [];
    const last = times.at(-1);
    if (last?.untilMs === fromMs) last.untilMs = untilMs;
    else times.push({ fromMs, untilMs });
    this.#times.set(screenId, times);
  }

  /** Returns for how long something was due between two times. */
  between(screenId: string, fromMs: number, untilMs: number): number {
    const times = this.#times.get(screenId) ?? [];
    if (!this.#sorted.has(screenId)) times.sort((one, other) => one.fromMs - other.fromMs);
    this.#sorted.add(screenId);
    let sum = 0;
    for (let at = firstEndAfter(times, fromMs); at < times.length; at++) {
      const time = times[at] as Interval;
      if (time.fromMs >= untilMs) break;
      sum += Math.min(untilMs, time.untilMs) - Math.max(fromMs, time.fromMs);
    }
    return sum;
  }
}

/** Returns the place of the first time that ends after another one. */
function firstEndAfter(times: readonly Interval[], timeMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((times[middle] as Interval).untilMs > timeMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
