import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { RuntimeOperation } from '../../player/observer.ts';

/**
 * Response times in milliseconds, from the start of the request to the last byte. They include the
 * wait for a free connection.
 */
export interface Latencies {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Requests to one endpoint, with their response times. */
export interface EndpointTraffic extends Latencies {
  operation: RuntimeOperation;
  requests: number;
  /** Number of responses by status. `none` counts requests without a response. */
  answers: Record<string, number>;
}

const noLatencies: Latencies = { p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 };
const microsecondsPerMs = 1000;

/** Two significant figures give an error of about 1 % and need only about 25 KB of memory. */
const makeTimes = () =>
  createHistogram({ lowest: 1, highest: 600 * 1000 * microsecondsPerMs, figures: 2 });

function latencies(times: RecordableHistogram): Latencies {
  if (times.count === 0) return noLatencies;
  const ms = (percentile: number) => times.percentile(percentile) / microsecondsPerMs;
  return { p50Ms: ms(50), p95Ms: ms(95), p99Ms: ms(99), maxMs: times.max / microsecondsPerMs };
}

interface Endpoint {
  times: RecordableHistogram;
  answers: Map<string, number>;
  requests: number;
}

/** Records requests and response times by endpoint. */
export class LatencyRecorder {
  readonly #endpoints = new Map<RuntimeOperation, Endpoint>();
  readonly #all = makeTimes();
  #requests = 0;

  /** Records one request. `status` is `undefined` if there was no response. */
  add(operation: RuntimeOperation, status: number | undefined, tookMs: number): void {
    const endpoint = this.#endpoint(operation);
    const answer = status === undefined ? 'none' : String(status);
    endpoint.answers.set(answer, (endpoint.answers.get(answer) ?? 0) + 1);
    endpoint.requests++;
    this.#requests++;
    if (status === undefined) return;
    const tookUs = Math.max(1, Math.round(tookMs * microsecondsPerMs));
    endpoint.times.record(tookUs);
    // Excludes long polls, because the service delays their answers on purpose.
    if (operation !== 'getDeviceChanges') this.#all.record(tookUs);
  }

  get requests(): number {
    return this.#requests;
  }

  /** Response times across all endpoints, without held answers. */
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
    const existing = this.#endpoints.get(operation);
    if (existing) return existing;
    const created = { times: makeTimes(), answers: new Map<string, number>(), requests: 0 };
    this.#endpoints.set(operation, created);
    return created;
  }
}
