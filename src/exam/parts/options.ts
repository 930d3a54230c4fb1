import type { Clock, Random } from '../../domain/clock.ts';
import type { PartId } from './part-ids.ts';

/** Options of `runTvExam`. */
export interface TvExamOptions {
  /** Address to listen on. Default: `127.0.0.1`. */
  host?: string;
  /** Port to listen on. 0 takes any free port. Default: 0. */
  port?: number;
  /** Runs the short exam, which takes about 7 minutes. Default: false. */
  quick?: boolean;
  /**
   * Factor by which TV time is faster than real time, like `speed` of a `Player`. Intervals,
   * backoff and playing time are judged in TV time. `Retry-After` and `waitSeconds` stay real
   * seconds. Default: 1.
   */
  pace?: number;
  /** `Retry-After` of the exam's own error answers, in real seconds. Default: 5. */
  retryAfterSeconds?: number;
  /** Maximum wait for a registration, in real seconds. Default: 1,800. */
  pairingSeconds?: number;
  /**
   * Maximum duration of the exam after the first registration, in minutes of TV time. A TV that
   * needs longer does not pass. Default: 12, full exam 24, and 3 more for power cuts.
   */
  maxMinutes?: number | undefined;
  /** Durations of single phases, in seconds of TV time. Default: those of this kind of exam. */
  phases?: Partial<TvExamPhases> | undefined;
  /** Runs only these parts. `register` always runs. Default: all. */
  parts?: readonly PartId[] | undefined;
  /**
   * Store of the service, as in `serve`. A resumed exam needs the store of the first run. Default:
   * `memory:`.
   */
  store?: string;
  /**
   * Saves the exam, so that a later run can skip the finished parts. Default: the exam is not
   * saved.
   */
  memory?: TvExamMemory | undefined;
  /** Called with each pairing code to enter at the TV, and the URL of the service for the TV. */
  onCode(code: string, url: string): void;
  /** Called with each step of the exam. */
  onStep?(step: TvExamStep): void;
  /**
   * Called for the first request of each kind that the service rejects, unless the exam wanted the
   * rejection.
   */
  onRefused?(request: RefusedRequest): void;
  /** Cuts and restores the power of the TV. Default: the checks of power cuts are skipped. */
  power?: TvPower | undefined;
  /** Ends the exam early. The report then skips the checks of unfinished parts. */
  signal?: AbortSignal | undefined;
  clock?: Clock;
  random?: Random;
}

/** The saved state of an exam. Contains keys and pairing codes only as hashes. */
export interface SavedTvExam {
  format: 1;
  quick: boolean;
  finished: readonly PartId[];
  /** The recording, as JSON. Its format may change with each version. */
  recording: unknown;
}

/** Persistent memory of an exam. */
export interface TvExamMemory {
  /** Resolves with the last saved exam, or `undefined` if there is none. */
  load(): Promise<SavedTvExam | undefined>;
  /** Resolves once the exam is durable. Called after each part. */
  save(exam: SavedTvExam): Promise<void>;
}

export interface TvExamStep {
  part: PartId;
  /** Situation of the TV in this step, such as `has no network`. */
  text: string;
}

/** A rejected request of the TV. */
export interface RefusedRequest {
  /** Operation of the request, such as `postEvents`. */
  operation: string;
  status: number;
  /** Error code of the answer. */
  code: string | undefined;
}

/** The power of the TV. If a method rejects, the exam rejects. */
export interface TvPower {
  /** Cuts the power. Resolves with true once the power is off. After false, the part is skipped. */
  off(): Promise<boolean>;
  /** Restores the power. */
  on(): Promise<void>;
}

/** Speed of TV time, and the `Retry-After` of the exam's answers. */
export interface Timing {
  pace: number;
  minuteMs: number;
  /** A second of TV time, in real milliseconds. */
  tvSecondMs: number;
  retryAfterSeconds: number;
}

export function timingOf({ pace = 1, retryAfterSeconds = 5 }: TvExamOptions): Timing {
  return { pace, minuteMs: 60_000 / pace, tvSecondMs: 1000 / pace, retryAfterSeconds };
}

/** Intervals of the two configs that the exam sets, in minutes. */
export const firstConfig = { syncIntervalMinutes: 2, heartbeatIntervalMinutes: 1 };
export const secondConfig = { syncIntervalMinutes: 1, heartbeatIntervalMinutes: 1 };

/** Durations of the phases of the exam, in seconds of TV time. */
export interface TvExamPhases {
  /** Duration without a successful playlist request. */
  failing: number;
  /** Duration without a playlist. */
  dark: number;
  /** Duration without a network after the first failed request. */
  away: number;
  /** Duration without a network after the first request of the restarted TV. */
  offline: number;
  /** Duration without a key after the TV was revoked. */
  unpaired: number;
  /** Duration from the delivery of a playlist to its `validUntil`. */
  ending: number;
  /** Duration after that `validUntil` in which playlist requests fail. */
  ended: number;
}

const quickPhases: TvExamPhases = {
  failing: 25,
  dark: 35,
  away: 40,
  offline: 20,
  unpaired: 20,
  ending: 25,
  ended: 20,
};
const fullPhases: TvExamPhases = {
  failing: 90,
  dark: 75,
  away: 180,
  offline: 60,
  unpaired: 30,
  ending: 40,
  ended: 30,
};

export const phasesOf = ({ quick, phases }: TvExamOptions): TvExamPhases => ({
  ...(quick ? quickPhases : fullPhases),
  ...phases,
});

/** Returns the maximum duration of an exam, in minutes of TV time. */
export const maxMinutesOf = ({ quick, power, maxMinutes }: TvExamOptions): number =>
  maxMinutes ?? (quick ? 12 : 24) + (power ? 3 : 0);
