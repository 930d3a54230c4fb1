import type { FleetProgress } from '../../simulator/fleet/report.ts';

/** Formats milliseconds: `0.8`, `12`. */
export const shortMs = (ms: number) => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0));

const steps: Readonly<Record<FleetProgress['step'], string>> = {
  preparing: 'preparing',
  running: '',
  comparing: 'comparing',
  clearing: 'clearing away',
};

/** Formats the progress of a fleet as one line. */
export function progressText({
  step,
  phases,
  requestsPerSecond,
  latencies,
  events,
  compared,
}: FleetProgress): string {
  const { p50Ms, p95Ms, p99Ms } = latencies;
  const tvs = Object.entries(phases).filter(([, count]) => count > 0);
  const parts = [
    steps[step] + (step === 'comparing' ? ` ${compared} events` : ''),
    tvs.map(([phase, count]) => `${count} ${phase}`).join(', '),
    `${requestsPerSecond.toFixed(0)} requests/s, p50 ${shortMs(p50Ms)} p95 ${shortMs(p95Ms)} p99 ${shortMs(p99Ms)} ms`,
    `events ${events.made} made, ${events.acknowledged} acknowledged, ${events.queued} queued`,
  ];
  return parts.filter((part) => part !== '').join(' | ');
}
