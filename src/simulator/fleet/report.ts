import type { EndpointTraffic, Latencies, LatencyRecorder } from '../tv/latency.ts';
import type { Reconciliation } from '../verify/reconcile.ts';
import type { EventCounts, Failures, FleetCounters, TvPhase } from './counters.ts';

/** The progress of a run. */
export interface FleetProgress {
  step: 'preparing' | 'running' | 'comparing' | 'clearing';
  /** Number of TVs in each phase. */
  phases: Partial<Record<TvPhase, number>>;
  /** Requests so far. */
  requests: number;
  /** Since the previous progress report. */
  requestsPerSecond: number;
  /** Response times of all requests so far. */
  latencies: Latencies;
  events: EventCounts;
  /** Real time since the first TV was switched on, in milliseconds. */
  elapsedMs: number;
  /** Stored events compared so far. */
  compared: number;
}

/** How often one fault rule took effect. */
export interface FaultCount {
  rule: string;
  count: number;
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
   * the speed.
   */
  hoursLived: number;
  /** Per real second. */
  requestsPerSecond: number;
  requests: number;
  endpoints: EndpointTraffic[];
  /** Number of key rotations, and of fallbacks to the previous key. */
  rotations: number;
  fallBacks: number;
  /** Batches sent again, because the response was lost or a fault duplicated them. */
  repeatedBatches: number;
  events: EventCounts;
  faults: FaultCount[];
  /** Errors that the TVs recovered from, by code. Expected if there are faults. */
  failures: Failures[];
  reconciliation: Reconciliation;
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

/** Measures the progress of a run. Request rates count from the previous call. */
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
