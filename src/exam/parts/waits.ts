import type { Clock } from '../../domain/clock.ts';
import type { TvOperation } from '../../faults/tv-call.ts';
import type { TvExchange } from '../wire/exchange.ts';
import type { Recording } from '../wire/recording.ts';
import { firstConfig, type Timing } from './options.ts';
import type { PartId } from './part-ids.ts';

/**
 * Maximum time until a TV sends a batch, in minutes of TV time. Includes time to collect events.
 */
export const reportMinutes = 6;

const longestPartMinutes = 30;

/** Thrown by a wait if the exam was interrupted. */
export class ExamInterrupted extends Error {}

/** Returns whether the TV got a successful answer. */
export const isGood = ({ end, answer }: TvExchange): boolean =>
  end === 'answered' && answer !== undefined && answer.status < 400;

interface WaitDependencies {
  recording: Recording;
  timing: Timing;
  clock: Clock;
  signal: AbortSignal;
}

/** Waits for what the TV does. Each wait throws `ExamInterrupted` if the exam is interrupted. */
export class ExamWaits {
  readonly timing: Timing;
  readonly recording: Recording;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor({ recording, timing, clock, signal }: WaitDependencies) {
    this.recording = recording;
    this.timing = timing;
    this.#clock = clock;
    this.#signal = signal;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Waits for a number of real milliseconds. */
  async pause(delayMs: number): Promise<void> {
    await this.until(() => false, delayMs);
  }

  /** Waits for a number of seconds of TV time. */
  pauseTv(seconds: number): Promise<void> {
    return this.pause(seconds * this.timing.tvSecondMs);
  }

  /**
   * Waits until `isMet` returns true, for at most `maxMs` real milliseconds. `isMet` is called
   * after each change, with the exchange that was added, if any. Returns whether it returned true.
   */
  until(isMet: (added?: TvExchange) => boolean, maxMs: number): Promise<boolean> {
    const clock = this.#clock;
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        cancel();
        stopListening();
        signal.removeEventListener('abort', interrupt);
        settle();
      };
      const check = (added?: TvExchange) => {
        if (isMet(added)) end(() => resolve(true));
      };
      const interrupt = () => end(() => reject(new ExamInterrupted()));
      const cancel = clock.after(maxMs, () => end(() => resolve(isMet())));
      const stopListening = this.recording.onChange(check);
      signal.addEventListener('abort', interrupt);
      if (signal.aborted) interrupt();
      else check();
    });
  }

  /**
   * Waits for an exchange that matches `isMeant`. Returns the exchange, or `undefined` if no
   * exchange matched in time.
   */
  async untilExchange(
    isMeant: (exchange: TvExchange) => boolean,
    maxMs: number,
  ): Promise<TvExchange | undefined> {
    let found = this.recording.ofTv.find(isMeant);
    const isFound = (added?: TvExchange) => {
      // Looks at each exchange once, so that a TV that sends thousands costs no more than them.
      if (added && isMeant(added)) found ??= added;
      return found !== undefined;
    };
    await this.until(isFound, maxMs);
    return found;
  }

  /** Waits for a good answer to a request of the operation that arrived at `afterMs` or later. */
  untilGood(
    operation: TvOperation,
    afterMs: number,
    maxMs: number,
  ): Promise<TvExchange | undefined> {
    return this.untilExchange(
      (one) => one.operation === operation && one.atMs >= afterMs && isGood(one),
      maxMs,
    );
  }

  /** Waits for the end of other parts that run beside this part. */
  async untilOver(...parts: readonly PartId[]): Promise<void> {
    for (const part of parts) await this.untilMark(`${part} over`);
  }

  /** Waits for one of several marks. */
  async untilMark(...names: readonly string[]): Promise<void> {
    const isMarked = () => this.recording.marks.some(({ name }) => names.includes(name));
    await this.until(isMarked, this.minutes(longestPartMinutes));
  }

  /**
   * Waits until the TV has fetched its playlist and sent events. Gives up on each when it is
   * overdue.
   */
  async untilSettled(): Promise<void> {
    await this.untilGood('getPlaylist', 0, this.minutes(1.6 * firstConfig.syncIntervalMinutes));
    await this.untilGood('postEvents', 0, this.minutes(reportMinutes));
  }

  /** Waits for the next exchange of the same operation. */
  untilNext({ operation, number }: TvExchange, maxMs: number): Promise<TvExchange | undefined> {
    return this.untilExchange((one) => one.operation === operation && one.number > number, maxMs);
  }

  /**
   * Converts minutes of TV time to real milliseconds. Adds one `Retry-After`, which may delay the
   * TV.
   */
  minutes(count: number): number {
    return count * this.timing.minuteMs + this.timing.retryAfterSeconds * 1000;
  }
}
