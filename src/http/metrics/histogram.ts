import type { Histogram } from 'prom-client';

/**
 * Counts of a histogram: one per bound, and one for everything longer. `sumMs` is the sum of all
 * times.
 */
export interface TimeCounts {
  boundsMs: readonly number[];
  counts: readonly number[];
  sumMs: number;
}

/** Counts one time. */
export function countTime(times: TimeCounts & { counts: number[] }, ms: number): void {
  const { boundsMs, counts } = times;
  let bucket = 0;
  while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
  counts[bucket] = (counts[bucket] as number) + 1;
  times.sumMs += ms;
}

interface Series extends TimeCounts {
  /** Value of the label. */
  value: string;
}

function valuesOf(
  { value: labelled, boundsMs, counts, sumMs }: Series,
  name: string,
  label: string,
) {
  let total = 0;
  const buckets = counts.map((count, n) => {
    total += count;
    const boundMs = boundsMs[n];
    const le = boundMs === undefined ? '+Inf' : boundMs / 1000;
    return { metricName: `${name}_bucket`, labels: { le, [label]: labelled }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { [label]: labelled }, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels: { [label]: labelled }, value: total },
  ];
}

/**
 * Returns a histogram in seconds over counts kept elsewhere. The library's own `observe` costs too
 * much per request.
 */
export function cumulativeHistogram(
  description: { name: string; help: string; label: string },
  series: () => readonly Series[],
): Histogram {
  const { name, help, label } = description;
  const described = { name, help, type: 'histogram', aggregator: 'sum' };
  const get = async () => ({
    ...described,
    values: series().flatMap((one) => valuesOf(one, name, label)),
  });
  return { ...described, get, reset() {} } as unknown as Histogram;
}
