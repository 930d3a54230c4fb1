import type { Timing } from '../options.ts';
import { isGood } from '../parts/part.ts';
import type { Exchange, TvOperation } from '../wire/exchange.ts';
import type { Mark } from '../wire/recording.ts';

export interface RecordedExam {
  exchanges: readonly Exchange[];
  marks: readonly Mark[];
  timing: Timing;
  isQuick: boolean;
}

/** Real milliseconds that a busy machine may delay a request. */
const slackMs = 300;

/** The recorded exam, as the checks ask about it. */
export class ExamView {
  readonly exchanges: readonly Exchange[];
  readonly timing: Timing;
  readonly isQuick: boolean;
  readonly #marks: readonly Mark[];

  constructor({ exchanges, marks, timing, isQuick }: RecordedExam) {
    this.exchanges = exchanges;
    this.timing = timing;
    this.isQuick = isQuick;
    this.#marks = marks;
  }

  /** All exchanges of an operation. */
  of(operation: TvOperation): Exchange[] {
    return this.exchanges.filter((one) => one.operation === operation);
  }

  /** The exchanges that a fault was applied to. */
  faulted(id: string): Exchange[] {
    return this.exchanges.filter(({ fault }) => fault === id);
  }

  /** The next exchange of the same operation. */
  nextOf({ operation, number }: Exchange): Exchange | undefined {
    return this.exchanges.find((one) => one.operation === operation && one.number > number);
  }

  /** The latest time of a mark. */
  markedMs(name: string): number | undefined {
    return this.#marks.findLast((mark) => mark.name === name)?.atMs;
  }

  /** Seconds of TV time between two moments. */
  tvSeconds(fromMs: number, toMs: number): number {
    return (toMs - fromMs) / this.timing.tvSecondMs;
  }

  /** Shows a time span: in seconds, and in seconds of TV time if that is something else. */
  span(ms: number): string {
    const seconds = (ms / 1000).toFixed(1);
    const tvSeconds = (ms / this.timing.tvSecondMs).toFixed(0);
    return this.timing.pace === 1 ? `${seconds} s` : `${seconds} s (${tvSeconds} s of TV time)`;
  }

  /** Whether a gap is at most 1.5 times an interval in minutes. */
  isSoonEnough(gapMs: number, minutes: number): boolean {
    return gapMs <= 1.5 * minutes * this.timing.minuteMs + slackMs;
  }

  /** Whether a gap is at least half an interval in minutes. */
  isLateEnough(gapMs: number, minutes: number): boolean {
    return gapMs >= 0.5 * minutes * this.timing.minuteMs - slackMs;
  }

  /** Whether the TV had a `Retry-After` and waited for it. */
  isAfter(retryAfterSeconds: number, waitedMs: number): boolean {
    return waitedMs >= retryAfterSeconds * 1000 - slackMs;
  }

  /** The registrations that gave the TV a key. */
  get registrations(): Exchange[] {
    return this.of('registerDevice').filter(isGood);
  }
}

/** Shows an exchange: the request, its answer and its time of day. */
export function shown({ method, path, atMs, end, answer }: Exchange): string {
  const time = new Date(atMs).toISOString().slice(11, 23);
  const status = end === 'answered' ? String(answer?.status) : end;
  return `${time} ${method} ${path}: ${status}`;
}
