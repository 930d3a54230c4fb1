import { Counter, Gauge, type Histogram, type Registry } from 'prom-client';

/** How an origin of playlists fares, as far as metrics tell it. */
interface OriginFigures {
  name: string;
  state: string;
  counts: Readonly<Record<string, number>>;
  latencies: { boundsMs: readonly number[]; counts: readonly number[]; sumMs: number };
}

type Health = () => readonly OriginFigures[];

function histogramOf({ name: origin, latencies }: OriginFigures, metric: string) {
  let total = 0;
  const buckets = latencies.counts.map((count, n) => {
    total += count;
    const boundMs = latencies.boundsMs[n];
    const le = boundMs === undefined ? '+Inf' : boundMs / 1000;
    return { metricName: `${metric}_bucket`, labels: { le, origin }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${metric}_sum`, labels: { origin }, value: latencies.sumMs / 1000 },
    { metricName: `${metric}_count`, labels: { origin }, value: total },
  ];
}

/** A histogram that was counted elsewhere: the library's own costs as much for each answer as asking the store. */
function countedElsewhere(health: Health): Histogram {
  const name = 'signage_origin_seconds';
  const about = { name, help: 'Time that an origin of playlists took to answer, by origin.', type: 'histogram', aggregator: 'sum' };
  const metric = { ...about, get: async () => ({ ...about, values: health().flatMap((one) => histogramOf(one, name)) }), reset() {} };
  return metric as unknown as Histogram;
}

/** Adds the metrics of the origins of playlists. These count by themselves, and are asked when somebody looks. */
export function watchOrigins(register: Registry, health: Health): void {
  const registers = [register];
  register.registerMetric(countedElsewhere(health));
  new Counter({
    name: 'signage_origin_requests_total',
    help: 'Questions to an origin of playlists, by origin and outcome.',
    labelNames: ['origin', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { name: origin, counts } of health()) {
        for (const [outcome, count] of Object.entries(counts)) this.inc({ origin, outcome }, count);
      }
    },
  });
  new Gauge({
    name: 'signage_origin_breaker_open',
    help: '1 while an origin of playlists is left alone, for it failed again and again.',
    labelNames: ['origin'],
    registers,
    collect() {
      for (const { name: origin, state } of health()) this.set({ origin }, state === 'open' ? 1 : 0);
    },
  });
}
