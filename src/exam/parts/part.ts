import type { Clock } from '../../domain/clock.ts';
import type { ActiveFault, Faults } from '../../faults/faults.ts';
import { parseServiceFault } from '../../faults/parse-fault.ts';
import type { TvOperation } from '../../faults/tv-call.ts';
import type { TvExchange, TvRequest } from '../wire/exchange.ts';
import type { Preparations } from '../wire/preparations.ts';
import type { Recording } from '../wire/recording.ts';
import type { Edition, ExamService } from './exam-service.ts';
import {
  firstConfig,
  phasesOf,
  secondConfig,
  type Timing,
  type TvExamOptions,
  type TvExamPhases,
  type TvPower,
} from './options.ts';
import type { PartId } from './part-ids.ts';

/**
 * Maximum time until a TV sends a batch, in minutes of TV time. Includes time to collect events.
 */
export const reportMinutes = 6;

const longestPartMinutes = 30;
/** Time in which a person enters a second code, in minutes of TV time. */
const repairMinutes = 4;

/** Time after a request for changes in which the TV holds the next one, in seconds of TV time. */
const holdingSeconds = 40;

/**
 * The TV counts as unpaired after this time without a request with a key, in minutes of TV time.
 */
const silentMinutes = 1.6;

/** Thrown by a wait if the exam was interrupted. */
export class ExamInterrupted extends Error {}

export type InjectedFault = ActiveFault<TvRequest>;

interface ExamDependencies {
  service: ExamService;
  recording: Recording;
  faults: Faults<TvRequest>;
  preparations: Preparations;
  timing: Timing;
  clock: Clock;
  signal: AbortSignal;
  power: TvPower | undefined;
  url: string;
  options: TvExamOptions;
  /** Adds a pairing code of the exam. Requests with this code count as requests of the TV. */
  addCode(code: string): void;
}

/** Work that waits for a request of the TV. */
export interface Prepared {
  /** Returns whether the exchange gave the TV what the work has made. */
  isGiven(exchange: TvExchange): boolean;
  cancel(): void;
}

/** Injects faults and waits for requests of the TV, for one part of the exam. */
export class Exam {
  readonly timing: Timing;
  readonly service: ExamService;
  readonly recording: Recording;
  readonly power: TvPower | undefined;
  readonly isQuick: boolean;
  readonly phases: TvExamPhases;
  readonly #part: PartId;
  readonly #deps: ExamDependencies;

  constructor(part: PartId, deps: ExamDependencies) {
    this.#part = part;
    this.#deps = deps;
    this.timing = deps.timing;
    this.service = deps.service;
    this.recording = deps.recording;
    this.power = deps.power;
    this.isQuick = deps.options.quick === true;
    this.phases = phasesOf(deps.options);
  }

  /** Maximum real seconds until a person has entered the first code. */
  get pairingSeconds(): number {
    return this.#deps.options.pairingSeconds ?? 1800;
  }

  /** Maximum real milliseconds until a person has entered a further code. */
  get repairMs(): number {
    return Math.min(1000 * this.pairingSeconds, this.minutes(repairMinutes));
  }

  /** Whether a part was chosen. `power` also needs somebody who switches the power. */
  hasPart(part: PartId): boolean {
    const isChosen = this.#deps.options.parts?.includes(part) ?? true;
    return isChosen && (part !== 'power' || this.power !== undefined);
  }

  now(): number {
    return this.#deps.clock.now();
  }

  /** Reports the current step to the caller of the exam. */
  step(text: string): void {
    this.#deps.options.onStep?.({ part: this.#part, text });
  }

  mark(name: string): void {
    this.recording.mark(name);
  }

  /**
   * Injects a fault by its rule. `id` names the affected exchanges for the checks. The rule hits
   * only requests for which `accepts` returns true.
   */
  inject(id: string, rule: string, accepts?: (request: TvRequest) => boolean): InjectedFault {
    this.mark(`fault ${id}`);
    return this.#deps.faults.add(parseServiceFault(rule), { id, accepts });
  }

  remove(active: InjectedFault): void {
    this.#deps.faults.remove(active);
  }

  /** Creates and shows a new pairing code. Revokes the screen's current device. */
  async showCode(): Promise<void> {
    const code = await this.service.createCode();
    this.#deps.addCode(code);
    this.#deps.options.onCode(code, this.#deps.url);
  }

  /**
   * Shows a new code if the TV has lost its key: if it has sent no request with a key for
   * `silentMinutes`. After a resume, only later requests count. Returns whether the TV is paired.
   */
  async repair(): Promise<boolean> {
    const { recording } = this;
    const silentMs = this.minutes(silentMinutes);
    const resumedMs = recording.marks.findLast(({ name }) => name === 'resumed')?.atMs ?? 0;
    const sinceMs = Math.max(resumedMs, this.now() - silentMs);
    const isOfPaired = (one: TvExchange) =>
      one.key !== undefined || (one.operation === 'registerDevice' && isGood(one));
    const isHeard = (one: TvExchange) => one.atMs >= sinceMs && isOfPaired(one);
    if (await this.untilExchange(isHeard, sinceMs + silentMs - this.now())) return true;
    this.step('lost its key: enter the new code');
    const shownMs = this.now();
    await this.showCode();
    const registered = await this.untilGood('registerDevice', shownMs, this.repairMs);
    return registered !== undefined;
  }

  /** Publishes the next edition of the playlist and returns its number. */
  async publish(kind: Edition = {}): Promise<number> {
    const edition = 1 + this.recording.marks.filter(({ name }) => /^edition /.test(name)).length;
    // Marked before the call, because a TV may fetch the playlist before the call returns.
    this.mark(`edition ${edition}`);
    if (kind.isLong) this.mark(`long edition ${edition}`);
    await this.service.publish(edition, kind);
    return edition;
  }

  /**
   * Does some work once, before the service handles the TV's next request of an operation. So the
   * TV gets what the work has made, and the exam knows when.
   */
  prepare(
    operation: TvOperation,
    work: () => Promise<unknown>,
    accepts: (request: TvRequest) => boolean = () => true,
  ): Prepared {
    let preparedMs = Number.POSITIVE_INFINITY;
    const preparation = {
      operation,
      accepts,
      prepare: async () => {
        preparedMs = this.now();
        await work();
      },
    };
    this.#deps.preparations.add(preparation);
    return {
      isGiven: (one) => one.operation === operation && one.endMs >= preparedMs && isGood(one),
      cancel: () => this.#deps.preparations.remove(preparation),
    };
  }

  /**
   * Prepares the answer to the TV's next playlist request, and waits until the TV has got it. If
   * the TV holds a request for changes, the work is done at once, so that the TV learns of it.
   * Returns `undefined` if the TV asked too late.
   */
  async deliver(work: () => Promise<unknown>): Promise<TvExchange | undefined> {
    const maxMs = this.minutes(1.6 * secondConfig.syncIntervalMinutes);
    if (this.#holdsChanges()) {
      const sinceMs = this.now();
      // Does nothing in an interrupted exam, which may be resumed.
      await this.pause(0);
      await work();
      return this.untilGood('getPlaylist', sinceMs, maxMs);
    }
    const { isGiven, cancel } = this.prepare('getPlaylist', work);
    const given = await this.untilExchange(isGiven, maxMs);
    cancel();
    return given;
  }

  #holdsChanges(): boolean {
    const last = this.recording.ofTv.findLast(({ operation }) => operation === 'getDeviceChanges');
    const sinceMs = this.now() - holdingSeconds * this.timing.tvSecondMs;
    return last !== undefined && isGood(last) && last.endMs >= sinceMs;
  }

  /** Waits for a number of real milliseconds. Throws `ExamInterrupted`. */
  async pause(delayMs: number): Promise<void> {
    await this.until(() => false, delayMs);
  }

  /** Waits for a number of seconds of TV time. Throws `ExamInterrupted`. */
  pauseTv(seconds: number): Promise<void> {
    return this.pause(seconds * this.timing.tvSecondMs);
  }

  /**
   * Waits until `isMet` returns true, for at most `maxMs` real milliseconds. `isMet` is called
   * after each change, with the exchange that was added, if any. Returns whether it returned true.
   * Throws `ExamInterrupted`.
   */
  until(isMet: (added?: TvExchange) => boolean, maxMs: number): Promise<boolean> {
    const { clock, signal } = this.#deps;
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

/** Returns whether the TV got a successful answer. */
export const isGood = ({ end, answer }: TvExchange): boolean =>
  end === 'answered' && answer !== undefined && answer.status < 400;

export interface ExamPart {
  id: PartId;
  run(exam: Exam): Promise<void>;
}
