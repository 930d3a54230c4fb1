import { Counter, Gauge, type Registry } from 'prom-client';
import { cumulativeHistogram, type TimeCounts } from './histogram.ts';

/** State and counts of a playlist origin. */
interface OriginFigures {
  name: string;
  state: string;
  counts: Readonly<Record<string, number>>;
  latencies: TimeCounts;
}

type Health = () => readonly OriginFigures[];

/** Adds the metrics of playlist origins, which are read when metrics are rendered. */
export function watchOrigins(register: Registry, health: Health): void {
  const registers = [register];
  const description = {
    name: 'signage_origin_seconds',
    help: 'Time a playlist origin took to answer, by origin.',
    label: 'origin',
  };
  register.registerMetric(
    cumulativeHistogram(description, () =>
      health().map(({ name: value, latencies }) => ({ value, ...latencies })),
    ),
  );
  new Counter({
    name: 'signage_origin_requests_total',
    help: 'Requests to a playlist origin, by origin and outcome.',
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
    help: '1 while the circuit breaker of a playlist origin is open.',
    labelNames: ['origin'],
    registers,
    collect() {
      for (const { name: origin, state } of health())
        this.set({ origin }, state === 'open' ? 1 : 0);
    },
  });
}
