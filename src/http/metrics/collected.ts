// Metrics whose values are kept by other modules. Each rendering reads the values.
import { statfs } from 'node:fs/promises';
import { Counter, Gauge, type Histogram, type Registry } from 'prom-client';
import { type Clock, secondMs } from '../../domain/clock.ts';
import { cached } from '../../domain/concurrency.ts';
import { withTimeout } from '../../domain/timeout.ts';

interface Description {
  name: string;
  help: string;
}

type Sample = readonly [labels: Record<string, string>, value: number];

/** Registers a counter or gauge whose samples are read at each rendering. */
export function collect(
  register: Registry,
  kind: 'counter' | 'gauge',
  description: Description & { labelNames?: string[] },
  samples: () => Iterable<Sample> | Promise<Iterable<Sample>>,
): void {
  const Metric = kind === 'counter' ? Counter<string> : Gauge<string>;
  const metric = new Metric({
    ...description,
    registers: [register],
    async collect() {
      const current = await samples();
      metric.reset();
      // Without labels, `reset` leaves a sample of 0.
      if (!description.labelNames) metric.remove();
      for (const [labels, value] of current) metric.inc(labels, value);
    },
  });
}

/**
 * Counts of a histogram: one per bound, and one for longer times. `sumMs` is the sum of all times.
 */
interface TimeCounts {
  boundsMs: readonly number[];
  counts: readonly number[];
  sumMs: number;
}

interface Series extends TimeCounts {
  /** Value of the histogram's label. */
  value: string;
}

function valuesOf({ value, boundsMs, counts, sumMs }: Series, name: string, label: string) {
  let total = 0;
  const buckets = counts.map((count, n) => {
    total += count;
    const boundMs = boundsMs[n];
    const le = boundMs === undefined ? '+Inf' : boundMs / 1000;
    return { metricName: `${name}_bucket`, labels: { le, [label]: value }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { [label]: value }, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels: { [label]: value }, value: total },
  ];
}

/**
 * Registers a histogram in seconds. The `Histogram` of prom-client cannot take existing counts, and
 * its `observe` costs too much per request.
 */
export function collectHistogram(
  register: Registry,
  { label, ...description }: Description & { label: string },
  series: () => readonly Series[],
): void {
  const described = { ...description, type: 'histogram', aggregator: 'sum' };
  const get = async () => ({
    ...described,
    values: series().flatMap((one) => valuesOf(one, description.name, label)),
  });
  register.registerMetric({ ...described, get, reset() {} } as unknown as Histogram);
}

/** State and counts of a playlist origin. */
interface OriginFigures {
  name: string;
  state: string;
  counts: Readonly<Record<string, number>>;
  latencies: TimeCounts;
}

/** Registers the metrics of playlist origins. */
export function watchOrigins(register: Registry, health: () => readonly OriginFigures[]): void {
  collectHistogram(
    register,
    {
      name: 'signage_origin_seconds',
      help: 'Response time of playlist origins, by origin.',
      label: 'origin',
    },
    () => health().map(({ name: value, latencies }) => ({ value, ...latencies })),
  );
  collect(
    register,
    'counter',
    {
      name: 'signage_origin_requests_total',
      help: 'Requests to a playlist origin, by origin and outcome.',
      labelNames: ['origin', 'outcome'],
    },
    () =>
      health().flatMap(({ name: origin, counts }) =>
        Object.entries(counts).map(([outcome, count]) => [{ origin, outcome }, count] as const),
      ),
  );
  collect(
    register,
    'gauge',
    {
      name: 'signage_origin_breaker_open',
      help: '1 while the circuit breaker of a playlist origin is open.',
      labelNames: ['origin'],
    },
    () => health().map(({ name: origin, state }) => [{ origin }, state === 'open' ? 1 : 0]),
  );
}

/** Backlog of the mirror. `oldestMs` is in Unix epoch milliseconds. */
interface MirrorFigures {
  pending: number;
  oldestMs: number | undefined;
  failures: number;
}

/** Registers the metrics of the mirror. */
export function watchMirror(
  register: Registry,
  lag: () => MirrorFigures,
  nowMs: () => number,
): void {
  const oldestSeconds = ({ oldestMs }: MirrorFigures) =>
    oldestMs === undefined ? 0 : Math.max(0, (nowMs() - oldestMs) / 1000);
  const pending = {
    name: 'signage_mirror_pending',
    help: 'Newest playlists and configs that are not yet in the object store.',
  };
  const oldest = {
    name: 'signage_mirror_oldest_seconds',
    help: 'Waiting time of the oldest playlist or config that is not yet in the object store; 0 if none waits.',
  };
  const failures = {
    name: 'signage_mirror_failures_total',
    help: 'Failed attempts to write a playlist to the object store.',
  };
  collect(register, 'gauge', pending, () => [[{}, lag().pending]]);
  collect(register, 'gauge', oldest, () => [[{}, oldestSeconds(lag())]]);
  collect(register, 'counter', failures, () => [[{}, lag().failures]]);
}

/** Maximum time that a scrape waits for a figure. */
const figureTimeoutMs = 2 * secondMs;

/**
 * Resolves with the samples, or with no samples after a failure or a time-out. The other metrics
 * must stay readable while the database or the disk does not answer.
 */
async function orNone(clock: Clock, samples: Promise<Sample[]>): Promise<Sample[]> {
  return withTimeout(clock, figureTimeoutMs, samples).catch(() => []);
}

/** Registers a metric for the number of screens of all tenants, by condition. */
export function watchScreens(
  register: Registry,
  counts: () => Promise<Readonly<Record<string, number>>>,
  clock: Clock,
): void {
  const screens = {
    name: 'signage_screens',
    help: 'Screens of all tenants, by condition; at most 15 s old.',
    labelNames: ['condition'],
  };
  const samples = async () =>
    Object.entries(await counts()).map(([condition, count]): Sample => [{ condition }, count]);
  collect(register, 'gauge', screens, () => orNone(clock, samples()));
}

/** Registers metrics for the number and size of media files. */
export function watchMedia(
  register: Registry,
  usage: () => Promise<{ files: number; bytes: number }>,
  clock: Clock,
): void {
  const files = {
    name: 'signage_media_files',
    help: 'Uploaded files of all tenants; equal files of two tenants count twice.',
  };
  const bytes = { name: 'signage_media_bytes', help: 'Size of the uploaded files of all tenants.' };
  const shared = cached(clock, secondMs, usage);
  const sample = async (member: 'files' | 'bytes'): Promise<Sample[]> => [
    [{}, (await shared())[member]],
  ];
  collect(register, 'gauge', files, () => orNone(clock, sample('files')));
  collect(register, 'gauge', bytes, () => orNone(clock, sample('bytes')));
}

/** Lifetime of the cached free disk space. */
const diskLifetimeMs = secondMs;

/**
 * Registers a metric for the free space on the disk of a folder. Scrapes share a pending call. If
 * the disk hangs, each further call would occupy another thread of libuv's pool.
 */
export function watchDisk(register: Registry, folder: string, clock: Clock): void {
  const free = {
    name: 'signage_data_free_bytes',
    help: 'Free space on the disk of the data folder.',
  };
  const samples = cached(clock, diskLifetimeMs, async (): Promise<Sample[]> => {
    const { bavail, bsize } = await statfs(folder);
    return [[{}, bavail * bsize]];
  });
  collect(register, 'gauge', free, () => orNone(clock, samples()));
}

/** Counts times in the buckets of a histogram. `value` is the value of the histogram's label. */
export class TimeSeries implements Series {
  readonly value: string;
  readonly boundsMs: readonly number[];
  readonly counts: number[];
  sumMs = 0;

  constructor(value: string, boundsMs: readonly number[]) {
    this.value = value;
    this.boundsMs = boundsMs;
    this.counts = [0, ...boundsMs.map(() => 0)];
  }

  add(ms: number): void {
    let bucket = 0;
    while (bucket < this.boundsMs.length && ms > (this.boundsMs[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumMs += ms;
  }
}
