import { largest, smallest } from '../../domain/numbers/extremes.ts';
import type { TvOperation } from '../../faults/tv-call.ts';
import type { Timing } from '../parts/options.ts';
import { isGood } from '../parts/part.ts';
import type { TvExchange } from '../wire/exchange.ts';
import type { Mark } from '../wire/recording.ts';
import { TvPlayback } from './tv-playback.ts';

export interface RecordedExam {
  exchanges: readonly TvExchange[];
  marks: readonly Mark[];
  timing: Timing;
  isQuick: boolean;
}

/** The time between an answer and the next request of the same operation. */
export interface Gap {
  before: TvExchange;
  after: TvExchange;
  ms: number;
  /** Shortest and longest sync interval of the configs in force at both ends, in minutes. */
  minMinutes: number;
  maxMinutes: number;
  /** Whether an answer about changes may have caused the second request. */
  isPrompted: boolean;
}

/** Tolerance for requests that a busy machine delays, in real milliseconds. */
const slackMs = 300;
/** Maximum TV seconds until a TV fetches the content that an answer about changes names. */
const promptSeconds = 10;

/** Query functions for the recorded exam, shared by the checks. */
export class ExamView {
  readonly exchanges: readonly TvExchange[];
  readonly timing: Timing;
  readonly isQuick: boolean;
  readonly playback: TvPlayback;
  readonly #marks: readonly Mark[];

  constructor({ exchanges, marks, timing, isQuick }: RecordedExam) {
    this.exchanges = exchanges;
    this.timing = timing;
    this.isQuick = isQuick;
    this.#marks = marks;
    this.playback = new TvPlayback(this.of('postEvents'), timing);
  }

  of(operation: TvOperation): TvExchange[] {
    return this.exchanges.filter((one) => one.operation === operation);
  }

  /** Returns the exchanges to which a fault was applied. */
  faulted(id: string): TvExchange[] {
    return this.exchanges.filter(({ fault }) => fault === id);
  }

  /** Returns the next exchange of the same operation. */
  nextOf({ operation, number }: TvExchange): TvExchange | undefined {
    return this.exchanges.find((one) => one.operation === operation && one.number > number);
  }

  /** Returns the latest time of a mark. */
  markedMs(name: string): number | undefined {
    return this.#marks.findLast((mark) => mark.name === name)?.atMs;
  }

  /** Time at which the TV was revoked. */
  get revokedMs(): number {
    return this.markedMs('revoked') ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the TV had a playlist at a moment. Only its last success or 404 counts. */
  hadPlaylist(atMs: number): boolean {
    const last = this.of('getPlaylist')
      .filter((one) => one.endMs <= atMs && one.end === 'answered')
      .findLast((one) => isGood(one) || one.answer?.status === 404);
    return last !== undefined && isGood(last);
  }

  /** Returns the registrations that gave the TV a key. */
  get registrations(): TvExchange[] {
    return this.of('registerDevice').filter(isGood);
  }

  /**
   * Returns the sync interval of the config that the TV had at a moment, in minutes. Default: 1.
   */
  syncMinutesAt(atMs: number): number {
    const last = this.exchanges.findLast(
      (one) => one.endMs <= atMs && isGood(one) && one.answer?.syncMinutes !== undefined,
    );
    return last?.answer?.syncMinutes ?? 1;
  }

  /** Returns the gaps after good answers to an operation, while the TV was paired and had power. */
  gaps(operation: 'getPlaylist' | 'getDeviceConfig'): Gap[] {
    const all = this.of(operation);
    return all.flatMap((before, at) => {
      const after = all[at + 1];
      if (!after || !isGood(before) || this.#isRestarted(before.endMs, after.atMs)) return [];
      const ends = [this.syncMinutesAt(before.endMs), this.syncMinutesAt(after.atMs)];
      const isPrompted = this.isPrompted(before, after);
      const ms = after.atMs - before.endMs;
      const [minMinutes, maxMinutes] = [smallest(ends), largest(ends)];
      return [{ before, after, ms, minMinutes, maxMinutes, isPrompted }];
    });
  }

  /** Returns whether an answer about changes may have caused one of two consecutive requests. */
  isPrompted(before: TvExchange, after: TvExchange): boolean {
    const fromMs = before.atMs - promptSeconds * this.timing.tvSecondMs;
    return this.of('getDeviceChanges').some(
      ({ endMs, answer }) => endMs >= fromMs && endMs <= after.atMs && answer?.status === 200,
    );
  }

  /**
   * Returns whether the TV registered, lost power or was revoked between two moments. A resume of
   * the exam counts, too.
   */
  #isRestarted(fromMs: number, toMs: number): boolean {
    const isBetween = (atMs: number) => atMs >= fromMs && atMs <= toMs;
    return (
      this.of('registerDevice').some(({ atMs }) => isBetween(atMs)) ||
      this.#marks.some(({ name, atMs }) => /^(power|revoked|resumed)/.test(name) && isBetween(atMs))
    );
  }

  /** Returns the seconds of TV time between two moments. */
  tvSeconds(fromMs: number, toMs: number): number {
    return (toMs - fromMs) / this.timing.tvSecondMs;
  }

  /** Returns whether a gap is at most 1.5 times an interval in minutes. */
  isSoonEnough(gapMs: number, minutes: number): boolean {
    return gapMs <= 1.5 * minutes * this.timing.minuteMs + slackMs;
  }

  /** Returns whether a gap is at least half an interval in minutes. */
  isLateEnough(gapMs: number, minutes: number): boolean {
    return gapMs >= 0.5 * minutes * this.timing.minuteMs - slackMs;
  }

  /** Returns whether the TV waited as long as a `Retry-After` demands. */
  isAfter(retryAfterSeconds: number, waitedMs: number): boolean {
    return waitedMs >= retryAfterSeconds * 1000 - slackMs;
  }

  /** Formats a time span in seconds. Adds the seconds of TV time if the pace is not 1. */
  span(ms: number): string {
    const seconds = (ms / 1000).toFixed(1);
    const tvSeconds = (ms / this.timing.tvSecondMs).toFixed(0);
    return this.timing.pace === 1 ? `${seconds} s` : `${seconds} s (${tvSeconds} s of TV time)`;
  }
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Formats an exchange: its time of day, the request without the TV's id, and its answer. */
export function shown({ method, path, atMs, end, answer }: TvExchange): string {
  const time = new Date(atMs).toISOString().slice(11, 21);
  const code = answer?.code === undefined ? '' : ` ${answer.code}`;
  const outcomes = {
    answered: `${answer?.status}${code}`,
    lost: 'answer lost',
    cut: 'connection cut',
    abandoned: 'the TV gave up',
  };
  return `${time} ${method} ${path.replaceAll(uuid, '…')}: ${outcomes[end]}`;
}

/** Digests of the events of a batch. */
export const digestsOf = ({ events }: TvExchange) => events.map(({ digest }) => digest);
