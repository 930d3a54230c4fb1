import { SignageError } from '../../domain/error.ts';
import type { DropReason, PlayerPhase } from '../../player/observer.ts';
import type { EndpointTraffic, Latencies, LatencyRecorder } from '../tv/latency.ts';
import type { Reconciliation } from '../verify/reconcile.ts';

/** The phase of a TV: the phase of its player, or `off`. */
export type TvPhase = PlayerPhase | 'off';

/** Event counts of a fleet. */
export interface EventCounts {
  /** Events created. */
  made: number;
  /** Events acknowledged by the service, each counted once. */
  acknowledged: number;
  queued: number;
  /** Events dropped by the TVs, by reason. */
  dropped: Partial<Record<DropReason, number>>;
}

/** Failures with the same code, and the message of the first. */
export interface Failures {
  code: string;
  count: number;
  message: string;
}

/** Counts the events, failures, faults and phases of the TVs of a fleet. */
export class FleetCounters {
  made = 0;
  queued = 0;
  readonly dropped: Partial<Record<DropReason, number>> = {};
  readonly phases: Partial<Record<TvPhase, number>> = {};
  /** Number of TVs that have ever had a key. */
  bound = 0;
  /** Number of TVs that ended without a key, for lack of a valid code. */
  givenUp = 0;
  /** Number of key rotations, and of fallbacks to the previous key. */
  rotations = 0;
  fallBacks = 0;
  /** Number of times that each fault rule took effect. */
  readonly faults = new Map<string, number>();
  readonly #failures = new Map<string, Failures>();

  /** Moves a TV to another phase. Omit `from` for a new TV. */
  move(from: TvPhase | undefined, to: TvPhase): void {
    if (from) this.phases[from] = (this.phases[from] ?? 0) - 1;
    this.phases[to] = (this.phases[to] ?? 0) + 1;
  }

  drop(reason: DropReason, count: number): void {
    this.dropped[reason] = (this.dropped[reason] ?? 0) + count;
  }

  fault(rule: string): void {
    this.faults.set(rule, (this.faults.get(rule) ?? 0) + 1);
  }

  giveUp(error: SignageError | undefined): void {
    this.givenUp++;
    // A rejected code has been counted as a failure already.
    if (!error)
      this.fail(new SignageError('no_pairing_code', 'There was no pairing code for a TV.'));
  }

  /**
   * Counts a failure under its code. Anything but a `SignageError` is a bug, counted as
   * `unexpected`.
   */
  fail(error: unknown): void {
    const code = error instanceof SignageError ? error.code : 'unexpected';
    const message = error instanceof Error ? error.message : String(error);
    const known = this.#failures.get(code) ?? { code, count: 0, message };
    this.#failures.set(code, { ...known, count: known.count + 1 });
  }

  /** Ordered by code. */
  get failures(): Failures[] {
    return [...this.#failures.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  }
}

/** The progress of a run. */
export interface FleetProgress {
  step: 'preparing' | 'running' | 'comparing' | 'clearing';
  /** Number of TVs in each phase. */
  phases: Partial<Record<TvPhase, number>>;
  /** Requests so far. */
  requests: number;
  /** Requests per real second, on average since the previous progress report. */
  requestsPerSecond: number;
  /** Response times since the start, without held answers. */
  latencies: Latencies;
  events: EventCounts;
  /** Real time since the start of the run, in milliseconds. */
  elapsedMs: number;
  /** Stored events compared so far. */
  compared: number;
}

/** Number of times that one fault rule took effect. For `offline`: number of failed requests. */
export interface FaultCount {
  rule: string;
  count: number;
}

/**
 * Records that a run leaves in the service.
 */
export interface LeftBehind {
  /** Number of events that the service acknowledged. They stay when their screens are deleted. */
  events: number;
  /**
   * Number of screens that stay: the screens of a saved fleet, or screens that could not be
   * deleted.
   */
  screens: number;
  /**
   * Whether the TVs are marked as simulated, so that reports can leave them out. TVs that pair with
   * `FleetOptions.codes` count as not marked.
   */
  isMarked: boolean;
}

/** The result of a run. */
export interface FleetReport {
  /** Seed of the run. The same seed and options repeat the run. */
  seed: string;
  /** Whether `signal` aborted the run. */
  isInterrupted: boolean;
  tvs: {
    count: number;
    /** TVs that were ever bound to a screen. */
    bound: number;
    /** TVs that ended without a key, for lack of a valid pairing code. */
    unpaired: number;
  };
  /** Real duration of the simulation, in seconds. */
  seconds: number;
  /**
   * Average simulated life of the TVs, in hours. Less than planned if the service was too slow for
   * the speed of the clocks.
   */
  hoursLived: number;
  /** Requests per real second, on average over the run. */
  requestsPerSecond: number;
  requests: number;
  endpoints: EndpointTraffic[];
  /** Number of key rotations, and of fallbacks to the previous key. */
  rotations: number;
  fallBacks: number;
  /** Number of repeated attempts to send a batch, for example after a lost response. */
  repeatedBatches: number;
  events: EventCounts;
  faults: FaultCount[];
  /** Failures of the TVs, by code. Expected if the run has fault rules. */
  failures: Failures[];
  reconciliation: Reconciliation;
  left: LeftBehind;
  /** Remarks, such as records that could not be deleted. */
  notes: string[];
}

export interface RunCounts {
  counters: FleetCounters;
  traffic: LatencyRecorder;
  acknowledged: number;
}

export function eventCounts({
  counters,
  acknowledged,
}: Pick<RunCounts, 'counters' | 'acknowledged'>): EventCounts {
  return {
    made: counters.made,
    acknowledged,
    queued: counters.queued,
    dropped: { ...counters.dropped },
  };
}

/** Measures the progress of a run. The request rate is the average since the previous call. */
export class ProgressMeter {
  #requests = 0;
  #previousMs: number;
  readonly #startMs: number;

  constructor(nowMs: number) {
    this.#startMs = nowMs;
    this.#previousMs = nowMs;
  }

  measure(
    nowMs: number,
    counted: RunCounts,
    at: Pick<FleetProgress, 'step' | 'compared'>,
  ): FleetProgress {
    const { traffic, counters } = counted;
    const sinceMs = Math.max(1, nowMs - this.#previousMs);
    const requestsPerSecond = ((traffic.requests - this.#requests) * 1000) / sinceMs;
    this.#requests = traffic.requests;
    this.#previousMs = nowMs;
    return {
      ...at,
      phases: { ...counters.phases },
      requests: traffic.requests,
      requestsPerSecond,
      latencies: traffic.latencies,
      events: eventCounts(counted),
      elapsedMs: nowMs - this.#startMs,
    };
  }
}
