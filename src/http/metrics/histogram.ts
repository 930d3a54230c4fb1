import type { Histogram } from 'prom-client';

/** How many times took up to each bound and longer than the one before, the last: longer than all; and all together. */
export interface TimeCounts {
  boundsMs: readonly number[];
  counts: readonly number[];
  sumMs: number;
}

/** Counts one more. */
export function countTime(times: TimeCounts & { counts: number[] }, ms: number): void {
  const { boundsMs, counts } = times;
  let bucket = 0;
  while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
  counts[bucket] = (counts[bucket] as number) + 1;
  times.sumMs += ms;
}

interface Series extends TimeCounts {
  /** Of the one label. */
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

/** A histogram of seconds that was counted elsewhere: the library's own costs as much for each time as much of what is timed. */
export function cumulativeHistogram(
  about: { name: string; help: string; label: string },
  series: () => readonly Series[],
): Histogram {
  const { name, help, label } = about;
  const described = { name, help, type: 'histogram', aggregator: 'sum' };
  const get = async () => ({
    ...described,
    values: series().flatMap((one) => valuesOf(one, name, label)),
  });
  return { ...described, get, reset() {} } as unknown as Histogram;
}
