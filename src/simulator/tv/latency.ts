import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { RuntimeOperation } from '../player/observer.ts';

/** How long answers took, in milliseconds from sending the request to the last byte. */
export interface Latencies {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** What TVs asked one endpoint, and what became of it. */
export interface EndpointTraffic extends Latencies {
  operation: RuntimeOperation;
  requests: number;
  /** How many answers had each status; `none` counts the requests that got no answer. */
  answers: Record<string, number>;
}

const none: Latencies = { p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 };
const microseconds = 1000;

/** 2 figures: a latency is told to about one part in a hundred, in a few kilobytes. */
const makeTimes = () =>
  createHistogram({ lowest: 1, highest: 600 * 1000 * microseconds, figures: 2 });

function latencies(times: RecordableHistogram): Latencies {
  if (times.count === 0) return none;
  const ms = (percentile: number) => times.percentile(percentile) / microseconds;
  return { p50Ms: ms(50), p95Ms: ms(95), p99Ms: ms(99), maxMs: times.max / microseconds };
}

interface Endpoint {
  times: RecordableHistogram;
  answers: Map<string, number>;
  requests: number;
}

/** Counts what goes over the wire. */
export class LatencyRecorder {
  readonly #endpoints = new Map<RuntimeOperation, Endpoint>();
  readonly #all = makeTimes();
  #requests = 0;

  /** One request is over; `status` is `undefined` when there was no answer. */
  add(operation: RuntimeOperation, status: number | undefined, tookMs: number): void {
    const endpoint = this.#endpoint(operation);
    const answer = status === undefined ? 'none' : String(status);
    endpoint.answers.set(answer, (endpoint.answers.get(answer) ?? 0) + 1);
    endpoint.requests++;
    this.#requests++;
    if (status === undefined) return;
    const tookUs = Math.max(1, Math.round(tookMs * microseconds));
    endpoint.times.record(tookUs);
    this.#all.record(tookUs);
  }

  get requests(): number {
    return this.#requests;
  }

  /** Of all endpoints together. */
  get latencies(): Latencies {
    return latencies(this.#all);
  }

  endpoints(): EndpointTraffic[] {
    return [...this.#endpoints].map(([operation, { times, answers, requests }]) => {
      return {
        operation,
        requests,
        answers: Object.fromEntries([...answers].sort()),
        ...latencies(times),
      };
    });
  }

  #endpoint(operation: RuntimeOperation): Endpoint {
    const known = this.#endpoints.get(operation);
    if (known) return known;
    const made = { times: makeTimes(), answers: new Map<string, number>(), requests: 0 };
    this.#endpoints.set(operation, made);
    return made;
  }
}
