import { Counter, Gauge, type Registry } from 'prom-client';
import { cumulativeHistogram, type TimeCounts } from './histogram.ts';

/** How an origin of playlists fares, as far as metrics tell it. */
interface OriginFigures {
  name: string;
  state: string;
  counts: Readonly<Record<string, number>>;
  latencies: TimeCounts;
}

type Health = () => readonly OriginFigures[];

/** Adds the metrics of the origins of playlists. These count by themselves, and are asked when somebody looks. */
export function watchOrigins(register: Registry, health: Health): void {
  const registers = [register];
  const about = {
    name: 'signage_origin_seconds',
    help: 'Time that an origin of playlists took to answer, by origin.',
    label: 'origin',
  };
  register.registerMetric(
    cumulativeHistogram(about, () =>
      health().map(({ name: value, latencies }) => ({ value, ...latencies })),
    ),
  );
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
      for (const { name: origin, state } of health())
        this.set({ origin }, state === 'open' ? 1 : 0);
    },
  });
}
