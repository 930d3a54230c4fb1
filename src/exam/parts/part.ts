import type { Clock } from '../../domain/clock.ts';
import type { ActiveFault, Faults } from '../../faults/faults.ts';
import { parseServiceFault } from '../../faults/parse-fault.ts';
import type { TvOperation } from '../../faults/tv-call.ts';
import type { TvExchange, TvRequest } from '../wire/exchange.ts';
import type { Preparations } from '../wire/preparations.ts';
import type { Recording } from '../wire/recording.ts';
import type { Edition, ExamService } from './exam-service.ts';
import {
  phasesOf,
  secondConfig,
  type Timing,
  type TvExamOptions,
  type TvExamPhases,
  type TvPower,
} from './options.ts';
import type { PartId } from './part-ids.ts';
import { ExamWaits, isGood } from './waits.ts';

/** Time in which a person enters a second code, in minutes of TV time. */
const repairMinutes = 4;

/** Time after a request for changes in which the TV holds the next one, in seconds of TV time. */
const holdingSeconds = 40;

/**
 * The TV counts as unpaired after this time without a request with a key, in minutes of TV time.
 */
const silentMinutes = 1.6;

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

/** What one part of the exam does to the TV: faults, codes and playlists. */
export class Exam extends ExamWaits {
  readonly service: ExamService;
  readonly power: TvPower | undefined;
  readonly isQuick: boolean;
  readonly phases: TvExamPhases;
  readonly #part: PartId;
  readonly #deps: ExamDependencies;

  constructor(part: PartId, deps: ExamDependencies) {
    super(deps);
    this.#part = part;
    this.#deps = deps;
    this.service = deps.service;
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
}

export interface ExamPart {
  id: PartId;
  run(exam: Exam): Promise<void>;
}
