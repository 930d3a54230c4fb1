import type { EndpointTraffic, Latencies, LatencyRecorder } from '../tv/latency.ts';
import type { Reconciliation } from '../verify/reconcile.ts';
import type { EventCounts, Failures, FleetCounters, TvPhase } from './counters.ts';

/** How a run is doing. */
export interface FleetProgress {
  step: 'preparing' | 'running' | 'comparing' | 'clearing';
  /** TVs by what they are at. */
  phases: Partial<Record<TvPhase, number>>;
  requests: number;
  /** Since the last time. */
  requestsPerSecond: number;
  latencies: Latencies;
  events: EventCounts;
  /** On the wall's clock, from the first TV on. */
  elapsedMs: number;
  /** Stored events that were compared so far. */
  compared: number;
}

/** What one fault rule did. */
export interface FaultCount {
  rule: string;
  count: number;
}

/** What became of a fleet. */
export interface FleetReport {
  /** With it, and the same options, the run can be repeated. */
  seed: string;
  /** Whether the signal ended it. */
  isInterrupted: boolean;
  tvs: {
    count: number;
    /** That were bound to a screen at any time. */
    bound: number;
    /** That ended without a key, for want of a good pairing code. */
    unpaired: number;
  };
  /** How long it ran on the wall's clock, in seconds. */
  seconds: number;
  /** How long the TVs have lived by their own clocks, on average: less than they were to, if the service was too slow for their speed. */
  hoursLived: number;
  /** In one of the wall's seconds. */
  requestsPerSecond: number;
  requests: number;
  endpoints: EndpointTraffic[];
  /** How often TVs have taken a new key, and how often they went back to the one before it. */
  rotations: number;
  fallBacks: number;
  /** Batches that went out again, because the answer was lost or a fault repeated them. */
  repeatedBatches: number;
  events: EventCounts;
  faults: FaultCount[];
  /** What TVs met and got over, by its code; with faults there will be some. */
  failures: Failures[];
  reconciliation: Reconciliation;
  /** What a person should know, such as what could not be taken away. */
  notes: string[];
}

export interface Counted {
  tally: FleetCounters;
  traffic: LatencyRecorder;
  acknowledged: number;
}

export function eventCounts({
  tally,
  acknowledged,
}: Pick<Counted, 'tally' | 'acknowledged'>): EventCounts {
  return { made: tally.made, acknowledged, queued: tally.queued, dropped: { ...tally.dropped } };
}

/** Looks at a run now and then; each look counts requests from the one before. */
export class ProgressMeter {
  #requests = 0;
  #atMs: number;
  readonly #startMs: number;

  constructor(nowMs: number) {
    [this.#startMs, this.#atMs] = [nowMs, nowMs];
  }

  look(
    nowMs: number,
    counted: Counted,
    at: Pick<FleetProgress, 'step' | 'compared'>,
  ): FleetProgress {
    const { traffic, tally } = counted;
    const sinceMs = Math.max(1, nowMs - this.#atMs);
    const requestsPerSecond = ((traffic.requests - this.#requests) * 1000) / sinceMs;
    [this.#requests, this.#atMs] = [traffic.requests, nowMs];
    return {
      ...at,
      phases: { ...tally.phases },
      requests: traffic.requests,
      requestsPerSecond,
      latencies: traffic.latencies,
      events: eventCounts(counted),
      elapsedMs: nowMs - this.#startMs,
    };
  }
}
