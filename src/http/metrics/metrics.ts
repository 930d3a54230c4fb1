import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../domain/clock.ts';
import type { UploadOutcome } from '../../service/media/media-uploads.ts';
import type { NoticeFigures } from '../../service/notices/notice-figures.ts';
import type { StoreWriteKind } from '../../service/observed-store.ts';
import type { OperationId } from '../../wire/operations/operations.ts';
import {
  collect,
  collectHistogram,
  TimeSeries,
  watchDisk,
  watchMedia,
  watchMirror,
  watchOrigins,
  watchScreens,
} from './collected.ts';
import { watchNotices } from './notice-metrics.ts';

/**
 * The operation of a request, or a group of requests that belong to no operation. Never a path,
 * because paths contain ids and codes.
 */
export type MeteredOperation = OperationId | 'system' | 'docs' | 'player' | 'media' | 'none';

/**
 * Outcome of a registration: bound, repeated, locked out (429), or refused with any other error.
 */
type RegistrationOutcome = 'bound' | 'repeated' | 'refused' | 'locked_out';

type LockOutScope = 'source' | 'service';

/** Kinds of requests. Each kind has its own overload limit (docs/protocol.md §1.8). */
export const shedKinds = [
  'reads',
  'writes',
  'management',
  'registrations',
  'media',
  'strangers',
] as const;
export type ShedKind = (typeof shedKinds)[number];

export interface Metrics {
  /** Counts one answered request, and adds its duration to the histogram. */
  observe(operation: MeteredOperation, status: number, seconds: number): void;
  /** Counts one answered long poll, without its duration, which says nothing about the service. */
  observeHeld(operation: MeteredOperation, status: number): void;
  /** Counts one answer to a request that did not reach an operation. */
  answeredEarly(status: number): void;
  /** Counts the events of an accepted batch. */
  eventsReceived(count: number): void;
  registration(outcome: RegistrationOutcome): void;
  /** Counts a lock-out for guessing codes: of one source, or of all untrusted sources. */
  registerLockout(scope: LockOutScope): void;
  /** Counts a request rejected because of overload. */
  requestShed(kind: ShedKind): void;
  /** Records the duration of one store write: a change, or a batch of events. */
  storeWrite(kind: StoreWriteKind, ms: number): void;
  /** Registers a metric for the number of screens by condition. */
  watchScreens(counts: Parameters<typeof watchScreens>[1], clock: Clock): void;
  /** Registers a metric for the free space on the disk of a folder. */
  watchDisk(folder: string, clock: Clock): void;
  /** Registers the metrics of playlist origins. */
  watchOrigins(health: Parameters<typeof watchOrigins>[1]): void;
  /** Registers a metric for the number of requests missing from the log of requests. */
  watchRequestLog(droppedCount: () => number): void;
  /**
   * Records the time from the moment this instance learns of a change to the answer that informs
   * the TV.
   */
  hint(ms: number): void;
  /** Registers a metric for the number of TVs whose request for changes is held. */
  watchHeldDevices(heldCount: () => number): void;
  /** Counts an upload of a file. */
  mediaUpload(outcome: UploadOutcome): void;
  /** Registers metrics for the number and size of media files. */
  watchMedia(usage: Parameters<typeof watchMedia>[1], clock: Clock): void;
  /** Registers the metrics of the mirror. */
  watchMirror(lag: Parameters<typeof watchMirror>[1], nowMs: () => number): void;
  /** Registers the metrics of notices and webhooks. */
  watchNotices(figures: NoticeFigures, nowMs: () => number): void;
  /** Returns all metrics in the text format of Prometheus, with the type `contentType`. */
  render(): Promise<string>;
  readonly contentType: string;
}

/**
 * Histogram bounds in milliseconds. The first bounds distinguish fast responses, and the last
 * bounds slow lists.
 */
const boundsMs = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000];

const requestLogDropped = {
  name: 'signage_request_log_dropped_total',
  help: 'Requests of TVs missing from the log of requests, because they were too many or the store failed.',
};

const heldDevices = {
  name: 'signage_held_devices',
  help: 'Requests for changes that are held at the moment.',
};

interface AnsweredCalls {
  times: TimeSeries;
  byStatus: Map<number, number>;
  held: number;
}

/**
 * Milliseconds between two samples of the event loop's delay, which is part of each sampled value.
 * The default of 10 takes 0.3 % of a core, which is more than a small fleet.
 */
const loopSampleMs = 100;

let processRegistry: Registry | undefined;

/**
 * Returns the default metrics of the process, collected once. `collectDefaultMetrics` cannot be
 * undone, so a call per service would keep each closed service in memory.
 */
function processMetrics(): Registry {
  if (processRegistry) return processRegistry;
  processRegistry = new Registry();
  collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: loopSampleMs });
  return processRegistry;
}

/**
 * Returns the functions that count requests. They only increment numbers, because they run for each
 * request. Metrics are rendered from these numbers, every few seconds at most.
 */
function makeRequestCounts(
  register: Registry,
): Pick<Metrics, 'observe' | 'observeHeld' | 'answeredEarly'> {
  const all = new Map<MeteredOperation, AnsweredCalls>();
  collect(
    register,
    'counter',
    {
      name: 'signage_http_requests_total',
      help: 'Answered requests, by operation and status.',
      labelNames: ['operation', 'status'],
    },
    () =>
      [...all].flatMap(([operation, { byStatus }]) =>
        [...byStatus].map(
          ([status, count]) => [{ operation, status: `${status}` }, count] as const,
        ),
      ),
  );
  collectHistogram(
    register,
    {
      name: 'signage_http_request_duration_seconds',
      help: 'Time from the request to its answer, by operation. Excludes long polls.',
      label: 'operation',
    },
    () =>
      [...all.values()]
        .map(({ times }) => times)
        .filter(({ counts }) => counts.some((count) => count > 0)),
  );
  collect(
    register,
    'counter',
    {
      name: 'signage_http_held_requests_total',
      help: 'Answered long polls (waitSeconds), by operation.',
      labelNames: ['operation'],
    },
    () =>
      [...all]
        .filter(([, { held }]) => held > 0)
        .map(([operation, { held }]) => [{ operation }, held] as const),
  );

  function count(operation: MeteredOperation, status: number): AnsweredCalls {
    let answered = all.get(operation);
    if (!answered) {
      answered = { times: new TimeSeries(operation, boundsMs), byStatus: new Map(), held: 0 };
      all.set(operation, answered);
    }
    answered.byStatus.set(status, (answered.byStatus.get(status) ?? 0) + 1);
    return answered;
  }

  return {
    observe(operation, status, seconds) {
      count(operation, status).times.add(seconds * 1000);
    },
    observeHeld(operation, status) {
      count(operation, status).held++;
    },
    answeredEarly(status) {
      count('none', status);
    },
  };
}

/** Registers the histogram of store writes. Returns the function that records one write. */
function makeStoreWrite(register: Registry): Metrics['storeWrite'] {
  const times = {
    change: new TimeSeries('change', boundsMs),
    events: new TimeSeries('events', boundsMs),
  };
  collectHistogram(
    register,
    {
      name: 'signage_store_write_seconds',
      help: 'Time until the store made a change or a batch of events durable, by kind.',
      label: 'kind',
    },
    () => Object.values(times),
  );
  return (kind, ms) => times[kind].add(ms);
}

/**
 * Returns the metrics of one service, in its own registry, so that two services can run side by
 * side. Labels never contain an id, an address or a secret.
 * @param version of the service, for `signage_build_info`
 */
export function makeMetrics(version: string): Metrics {
  const whole = processMetrics();
  const register = new Registry();
  const registers = [register];
  const build = new Gauge({
    name: 'signage_build_info',
    help: 'Always 1; the labels name the versions of the service and of Node.js.',
    labelNames: ['version', 'node'],
    registers,
  });
  build.set({ version, node: process.version }, 1);
  const events = new Counter({
    name: 'signage_events_received_total',
    help: 'Stored telemetry events.',
    registers,
  });
  const lockouts = new Counter({
    name: 'signage_register_lockouts_total',
    help: 'Lock-outs for guessing pairing codes, of one source or of all untrusted sources.',
    labelNames: ['scope'],
    registers,
  });
  for (const scope of ['source', 'service'] as const) lockouts.inc({ scope }, 0);
  const registrations = new Counter({
    name: 'signage_registrations_total',
    help: 'Registrations, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const hints = new Histogram({
    name: 'signage_hint_seconds',
    help: 'Time from the moment this instance learns of a change to the answer that informs the TV.',
    buckets: boundsMs.map((ms) => ms / 1000),
    registers,
  });
  const uploads = new Counter({
    name: 'signage_media_uploads_total',
    help: 'Uploads of media files that have ended, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['stored', 'refused'] as const) uploads.inc({ outcome }, 0);
  const shed = new Counter({
    name: 'signage_requests_shed_total',
    help: 'Requests rejected because of overload, by kind.',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of shedKinds) shed.inc({ kind }, 0);
  return {
    ...makeRequestCounts(register),
    eventsReceived: (count) => events.inc(count),
    registration: (outcome) => registrations.inc({ outcome }),
    registerLockout: (scope) => lockouts.inc({ scope }),
    requestShed: (kind) => shed.inc({ kind }),
    storeWrite: makeStoreWrite(register),
    watchScreens: (counts, clock) => watchScreens(register, counts, clock),
    watchDisk: (folder, clock) => watchDisk(register, folder, clock),
    watchOrigins: (health) => watchOrigins(register, health),
    watchRequestLog: (droppedCount) =>
      collect(register, 'counter', requestLogDropped, () => [[{}, droppedCount()]]),
    hint: (ms) => hints.observe(ms / 1000),
    watchHeldDevices: (heldCount) =>
      collect(register, 'gauge', heldDevices, () => [[{}, heldCount()]]),
    mediaUpload: (outcome) => uploads.inc({ outcome }),
    watchMedia: (usage, clock) => watchMedia(register, usage, clock),
    watchMirror: (lag, nowMs) => watchMirror(register, lag, nowMs),
    watchNotices: (figures, nowMs) => watchNotices(register, figures, nowMs),
    render: async () => `${await whole.metrics()}\n${await register.metrics()}`,
    contentType: register.contentType,
  };
}
