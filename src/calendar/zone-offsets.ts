import { Temporal } from 'temporal-polyfill';

/** A time with one offset from UTC. */
interface Period {
  fromMs: number;
  untilMs: number;
  seconds: number;
}

/** Outside of these times, only TVs with wrong clocks report. Their periods are not remembered. */
const firstMs = Date.UTC(2000, 0, 1);
const endMs = Date.UTC(2100, 0, 1);
/** The last instant that Temporal knows. */
const lastMs = 8.64e15;
const periodsKnown = 16;

/** How far the local time of a zone is ahead of UTC. Remembers the periods between its changes. */
export class ZoneOffsets {
  readonly #timezone: string;
  #periods: Period[] = [];

  constructor(timezone: string) {
    this.#timezone = timezone;
  }

  /** Returns the offset at an instant, in seconds. */
  at(timeMs: number): number {
    const found = this.#periods.find(({ fromMs, untilMs }) => fromMs <= timeMs && timeMs < untilMs);
    if (found) return found.seconds;
    const local = Temporal.Instant.fromEpochMilliseconds(
      Math.min(timeMs, lastMs),
    ).toZonedDateTimeISO(this.#timezone);
    const seconds = local.offsetNanoseconds / 1e9;
    if (timeMs < firstMs || timeMs >= endMs) return seconds;
    const untilMs = local.getTimeZoneTransition('next')?.epochMilliseconds ?? endMs;
    // A nanosecond later, because a period includes the instant of its transition.
    const before = local.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
    const period = { fromMs: before?.epochMilliseconds ?? firstMs, untilMs, seconds };
    this.#periods = [period, ...this.#periods].slice(0, periodsKnown);
    return seconds;
  }
}
