import { largest, smallest } from '../../domain/numbers/extremes.ts';
import type { TvOperation } from '../../faults/tv-call.ts';
import type { Timing } from '../parts/options.ts';
import { isGood } from '../parts/waits.ts';
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

/** The time from a request to the next one. `isOpen`: to the moment at which the TV was stopped. */
interface Wait {
  fromMs: number;
  toMs: number;
  isOpen: boolean;
}

/** Tolerance for requests that a busy machine delays, in real milliseconds. */
const slackMs = 300;

/** Returns the index of the first value of a sorted list that is at least `least`. */
function indexFrom<T>(sorted: readonly T[], least: number, read: (one: T) => number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (read(sorted[middle] as T) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

const byEnd = (one: TvExchange, other: TvExchange) => one.endMs - other.endMs;
const endOf = ({ endMs }: TvExchange) => endMs;

/** Adds an exchange to the group of its key. */
function addTo<K>(groups: Map<K, TvExchange[]>, key: K, exchange: TvExchange): void {
  const group = groups.get(key);
  if (group) group.push(exchange);
  else groups.set(key, [exchange]);
}

/**
 * Query functions for the recorded exam, shared by the checks. Each looks its exchanges up in an
 * index, so that judging a TV that sent thousands of requests takes time linear in their number.
 */
export class ExamView {
  readonly exchanges: readonly TvExchange[];
  readonly timing: Timing;
  readonly isQuick: boolean;
  readonly playback: TvPlayback;
  readonly #marks: readonly Mark[];
  readonly #byOperation = new Map<TvOperation | undefined, TvExchange[]>();
  readonly #byFault = new Map<string | undefined, TvExchange[]>();
  /** Good answers with a sync interval, in order of their end. */
  readonly #configs: readonly TvExchange[];
  /** Answers about changes that told the TV something new, in order of their end. */
  readonly #news: readonly TvExchange[];

  constructor({ exchanges, marks, timing, isQuick }: RecordedExam) {
    this.exchanges = exchanges;
    this.timing = timing;
    this.isQuick = isQuick;
    this.#marks = marks;
    for (const one of exchanges) {
      addTo(this.#byOperation, one.operation, one);
      addTo(this.#byFault, one.fault, one);
    }
    this.#configs = exchanges
      .filter((one) => isGood(one) && one.answer?.syncMinutes !== undefined)
      .sort(byEnd);
    this.#news = this.of('getDeviceChanges')
      .filter((one) => one.answer?.status === 200 && one.answer.cursor !== one.after)
      .sort(byEnd);
    this.playback = new TvPlayback(this.of('postEvents'), timing);
  }

  of(operation: TvOperation): readonly TvExchange[] {
    return this.#byOperation.get(operation) ?? [];
  }

  /** Returns the exchanges to which a fault was applied. */
  faulted(id: string): readonly TvExchange[] {
    return this.#byFault.get(id) ?? [];
  }

  /** Returns the next exchange of the same operation. */
  nextOf({ operation, number }: TvExchange): TvExchange | undefined {
    const all = this.#byOperation.get(operation) ?? [];
    return all[indexFrom(all, number + 1, (one) => one.number)];
  }

  /** Returns the first exchange of an operation that arrived at `atMs` or later. */
  firstOf(operation: TvOperation, atMs: number): TvExchange | undefined {
    const all = this.of(operation);
    return all[indexFrom(all, atMs, (one) => one.atMs)];
  }

  /** Returns the latest time of a mark. */
  markedMs(name: string): number | undefined {
    return this.#marks.findLast((mark) => mark.name === name)?.atMs;
  }

  /** Returns all marks whose name matches. */
  marks(name: RegExp): readonly Mark[] {
    return this.#marks.filter((mark) => name.test(mark.name));
  }

  /** Time at which the TV was revoked. */
  get revokedMs(): number {
    return this.markedMs('revoked') ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the TV had a playlist at a moment: its last success, 404 or registration counts. */
  hadPlaylist(atMs: number): boolean {
    const last = this.of('getPlaylist')
      .filter((one) => one.endMs <= atMs && one.end === 'answered')
      .findLast((one) => isGood(one) || one.answer?.status === 404);
    const registered = this.registrations.findLast(({ endMs }) => endMs <= atMs);
    return last !== undefined && isGood(last) && last.endMs >= (registered?.endMs ?? 0);
  }

  /** Returns the registrations that gave the TV a key. */
  get registrations(): TvExchange[] {
    return this.of('registerDevice').filter(isGood);
  }

  /**
   * Returns the sync interval of the config that the TV had at a moment, in minutes. Default: 1.
   */
  syncMinutesAt(atMs: number): number {
    const next = indexFrom(this.#configs, atMs + 1, endOf);
    return this.#configs[next - 1]?.answer?.syncMinutes ?? 1;
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

  /**
   * Returns the times from the requests of an operation to the next ones, while the TV was paired
   * and had a network. A time in which the exam cut connections does not count.
   */
  waits(operation: 'getPlaylist' | 'getDeviceConfig'): Wait[] {
    const timesOf = (name: RegExp) => this.marks(name).map(({ atMs }) => atMs);
    const returns = timesOf(/^(network is back|power found its network)$/);
    const stops = timesOf(/^(network goes|power goes|revoked|resumed)$/);
    const ends = timesOf(/^(playlist failures end|end is over)$/);
    const registered = this.registrations.map(({ endMs }) => endMs);
    const lastMs = this.exchanges.at(-1)?.atMs ?? 0;
    const isCut = ({ end, answer }: TvExchange) =>
      end === 'cut' || answer?.code === 'device_key_revoked';
    const requests = this.of(operation).filter((one) => !isCut(one));
    const starts = requests.map((one) => ({
      fromMs: one.endMs + 1000 * (one.answer?.retryAfterSeconds ?? 0),
      next: this.nextOf(one),
    }));
    const again = returns.map((fromMs) => ({ fromMs, next: this.firstOf(operation, fromMs) }));
    return [...starts, ...again].flatMap(({ fromMs, next }) => {
      const nextMs = next?.atMs ?? lastMs;
      const toMs = smallest(
        [...stops, ...returns].filter((ms) => ms > fromMs),
        nextMs,
      );
      const isWithin = (ms: number) => ms > fromMs && ms < toMs;
      const isOpen = next === undefined || toMs < nextMs;
      // A TV that registers again had no key for some of the time. A TV may fetch its config only
      // after a playlist that failed for a while.
      const isExcused = registered.some(isWithin) || (!isOpen && ends.some(isWithin));
      return isExcused || toMs < fromMs ? [] : [{ fromMs, toMs, isOpen }];
    });
  }

  /** Returns the first of the times that is too long for the sync interval. */
  lateWait(waits: readonly Wait[]): Wait | undefined {
    return waits.find(
      ({ fromMs, toMs }) => !this.isSoonEnough(toMs - fromMs, this.syncMinutesAt(fromMs)),
    );
  }

  /** Returns whether an answer about changes may have caused one of two consecutive requests. */
  isPrompted(before: TvExchange, after: TvExchange): boolean {
    const first = this.#news[indexFrom(this.#news, before.atMs, endOf)];
    return first !== undefined && first.endMs <= after.atMs;
  }

  /**
   * Returns whether the TV registered, lost power or was revoked between two moments. A resume of
   * the exam counts, too, and so does the end of failures, because a TV may fetch one after the
   * other.
   */
  #isRestarted(fromMs: number, toMs: number): boolean {
    const isBetween = (atMs: number) => atMs >= fromMs && atMs <= toMs;
    return (
      isBetween(this.firstOf('registerDevice', fromMs)?.atMs ?? Number.NaN) ||
      this.#marks.some(
        ({ name, atMs }) =>
          /^(power|revoked|resumed|playlist failures end|end is over)/.test(name) &&
          isBetween(atMs),
      )
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
