import type { DropReason } from '../../player/observer.ts';
import type { Failures, FleetCounters, TvPhase } from '../tv/counters.ts';
import type { EndpointTraffic, Latencies, LatencyRecorder } from '../tv/latency.ts';
import type { Reconciliation } from '../verify/reconcile.ts';

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

/** The progress of a run. */
export interface FleetProgress {
  step: 'preparing' | 'running' | 'comparing' | 'clearing';
  /** Number of TVs in each phase. */
  phases: Partial<Record<TvPhase, number>>;
  /** Number of TVs that draw who they are, because they are identified. */
  identified: number;
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
      identified: counters.identified,
      requests: traffic.requests,
      requestsPerSecond,
      latencies: traffic.latencies,
      events: eventCounts(counted),
      elapsedMs: nowMs - this.#startMs,
    };
  }
}
