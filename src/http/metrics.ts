import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { OperationId } from '../wire/operations.ts';
import { watchMirror } from './mirror-metrics.ts';
import { watchOrigins } from './origin-metrics.ts';

/** What a request is counted as: an operation, or one of the few other things that are served. Never a path: that would carry ids and codes. */
export type MeteredOperation = OperationId | 'system' | 'docs' | 'media' | 'none';

/** How a registration ended: bound, the same answer again, refused for its code or its body, or locked out. */
type RegistrationOutcome = 'bound' | 'repeated' | 'refused' | 'locked_out';

export interface Metrics {
  /** Counts one answered request. */
  observe(operation: MeteredOperation, status: number, seconds: number): void;
  /** Counts the events of an accepted batch. */
  eventsReceived(count: number): void;
  registration(outcome: RegistrationOutcome): void;
  /** Counts a source that was locked out for guessing codes. */
  registerLockout(): void;
  /** From now on tells of the origins of playlists, too. */
  watchOrigins(health: Parameters<typeof watchOrigins>[1]): void;
  /** From now on tells of the mirror, too. */
  watchMirror(lag: Parameters<typeof watchMirror>[1], nowMs: () => number): void;
  /** All of it in the text format of Prometheus, of `contentType`. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Answers take a fraction of a millisecond to some 30 s, where a caller asked to be held. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** `observe`, with the children of each pair of labels looked up once: finding them by labels costs as much as all the rest. */
function makeObserve(register: Registry): Metrics['observe'] {
  const registers = [register];
  const requests = new Counter({
    name: 'signage_http_requests_total',
    help: 'Answered requests, by operation and status.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'signage_http_request_duration_seconds',
    help: 'Time from the request to its answer, by operation.',
    labelNames: ['operation'],
    buckets,
    registers,
  });
  const children = (operation: MeteredOperation) => ({ timed: durations.labels(operation), counted: new Map<number, Counter.Internal>() });
  const known = new Map<MeteredOperation, ReturnType<typeof children>>();
  return (operation, status, seconds) => {
    const { timed, counted } = remembered(known, operation, children);
    remembered(counted, status, (code) => requests.labels(operation, String(code))).inc();
    timed.observe(seconds);
  };
}

function remembered<K, V>(known: Map<K, V>, key: K, make: (key: K) => V): V {
  const old = known.get(key);
  if (old !== undefined) return old;
  const made = make(key);
  known.set(key, made);
  return made;
}

/**
 * The metrics of one service, in a registry of their own, so that two can run side by side. Labels name operations, statuses and outcomes:
 * never an id, an address or a secret.
 *
 * @param version of the service, for `signage_build_info`
 */
export function makeMetrics(version: string): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const build = new Gauge({
    name: 'signage_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: ['version', 'node'],
    registers,
  });
  build.set({ version, node: process.version }, 1);
  const events = new Counter({ name: 'signage_events_received_total', help: 'Telemetry events that were stored.', registers });
  const lockouts = new Counter({
    name: 'signage_register_lockouts_total',
    help: 'Sources locked out for guessing pairing codes.',
    registers,
  });
  const registrations = new Counter({
    name: 'signage_registrations_total',
    help: 'Registrations, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  return {
    observe: makeObserve(register),
    eventsReceived: (count) => events.inc(count),
    registration: (outcome) => registrations.inc({ outcome }),
    registerLockout: () => lockouts.inc(),
    watchOrigins: (health) => watchOrigins(register, health),
    watchMirror: (lag, nowMs) => watchMirror(register, lag, nowMs),
    render: () => register.metrics(),
    contentType: register.contentType,
  };
}
