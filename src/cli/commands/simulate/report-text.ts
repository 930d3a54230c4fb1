import type {
  EventCounts,
  FaultCount,
  FleetProgress,
  FleetReport,
  LeftBehind,
} from '../../../simulator/fleet/report.ts';
import type { Failures } from '../../../simulator/tv/counters.ts';
import type { EndpointTraffic } from '../../../simulator/tv/latency.ts';
import type { Reconciliation } from '../../../simulator/verify/reconcile.ts';
import { type Column, member, members, type View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { isForPeople } from '../../terminal/format.ts';

/** Formats milliseconds: `0.8`, `12`. */
const shortMs = (ms: number) => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0));

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
  identified,
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
    identified > 0 ? `${identified} identified` : '',
    `events ${events.made} made, ${events.acknowledged} acknowledged, ${events.queued} queued`,
    `${requestsPerSecond.toFixed(0)} requests/s, p50 ${shortMs(p50Ms)} p95 ${shortMs(p95Ms)} p99 ${shortMs(p99Ms)} ms`,
  ];
  return parts.filter((part) => part !== '').join(' | ');
}

function eventsText({ made, acknowledged, queued, dropped }: EventCounts): string {
  const droppedTexts = Object.entries(dropped).map(([why, count]) => `${count} dropped (${why})`);
  return [
    `${made} made`,
    `${acknowledged} acknowledged`,
    `${queued} still on the TVs`,
    ...droppedTexts,
  ].join(', ');
}

function keysText({ rotations, fallBacks, reconciliation: { keys } }: FleetReport): string {
  const fallBackText = fallBacks === 0 ? '' : `, ${fallBacks} fallbacks to the previous key`;
  const keyText = keys
    ? `; ${keys.issued} keys issued, ${keys.working} work, on ${keys.tvs} TVs`
    : '';
  const pendingText = keys?.underWay ? `, ${keys.underWay} rotations in progress` : '';
  return `${rotations} rotations${fallBackText}${keyText}${pendingText}`;
}

function comparedText({ outcome, why, devices, events, findings }: Reconciliation): string {
  if (outcome !== 'compared') return `${outcome}: ${why}`;
  const stored = `${devices} devices, ${events.acknowledged} events acknowledged, ${events.stored} stored`;
  return `${stored}: ${findings.length === 0 ? 'nothing lost, duplicated or unexpected' : 'ERRORS FOUND'}`;
}

/** Describes the records that the run leaves in the service. */
function leftText({ events, screens, isMarked }: LeftBehind): string {
  const reports = isMarked ? 'signage report leaves them out' : 'signage report counts them';
  const left = [
    ...(screens > 0 ? [`${screens} screens with simulated TVs`] : []),
    ...(events > 0 ? [`${events} events (${reports})`] : []),
  ];
  return left.length === 0 ? 'nothing in the service' : `${left.join(', ')} in the service`;
}

const reportView: View<FleetReport> = {
  columns: [
    { name: 'seed', value: ({ seed }) => `${seed} (to repeat the run: --seed ${seed})` },
    {
      name: 'TVs',
      value: ({ tvs: { bound, count, unpaired } }) =>
        `${bound} of ${count} bound${unpaired === 0 ? '' : `, ${unpaired} without a valid code`}`,
    },
    {
      name: 'lived',
      value: ({ hoursLived, seconds }) =>
        `${hoursLived.toFixed(1)} hours each, in ${seconds.toFixed(1)} s of real time`,
    },
    {
      name: 'requests',
      value: ({ requests, requestsPerSecond }) =>
        `${requests}, ${requestsPerSecond.toFixed(0)} per second`,
    },
    {
      name: 'events',
      value: ({ events, repeatedBatches }) =>
        `${eventsText(events)}; ${repeatedBatches} batches retried`,
    },
    { name: 'keys', value: keysText },
    { name: 'compared', value: ({ reconciliation }) => comparedText(reconciliation) },
    { name: 'left', value: ({ left }) => leftText(left) },
  ],
  nameOf: ({ seed }) => seed,
};

const millis = (
  name: 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs',
  title: string,
): Column<EndpointTraffic> => ({
  name: title,
  value: (endpoint) => `${shortMs(endpoint[name])} ms`,
});

const endpointView: View<EndpointTraffic> = {
  columns: [
    { name: 'call', value: ({ operation }) => operation },
    member('requests'),
    millis('p50Ms', 'p50'),
    millis('p95Ms', 'p95'),
    millis('p99Ms', 'p99'),
    millis('maxMs', 'longest'),
    {
      name: 'answers',
      value: ({ answers }) =>
        Object.entries(answers)
          .map(([status, count]) => `${status}: ${count}`)
          .join(', '),
    },
  ],
  nameOf: ({ operation }) => operation,
};

const faultView: View<FaultCount> = {
  columns: [
    { name: 'fault', value: ({ rule }) => rule },
    { name: 'times', value: ({ count }) => count },
  ],
  nameOf: ({ rule }) => rule,
};

const failureView = (title: string): View<Failures> => ({
  columns: [
    { name: title, value: ({ code }) => code },
    { name: 'times', value: ({ count }) => count },
    ...members<Failures>('message'),
  ],
  nameOf: ({ code }) => code,
});

/** Prints the report: for people with tables of calls, faults and errors. */
export async function printReport(
  { io, common, results, note }: CommandContext,
  report: FleetReport,
): Promise<void> {
  await results.record(report, reportView);
  if (!isForPeople(common.output) || common.jq !== undefined || common.fields !== undefined) return;
  const table = async <T>(records: readonly T[], view: View<T>) => {
    if (records.length === 0) return;
    io.stdout.write('\n');
    await results.list([records], view);
  };
  await table(report.endpoints, endpointView);
  await table(report.faults, faultView);
  await table(report.failures, failureView('recoveredError'));
  await table(report.reconciliation.findings, failureView('violation'));
  for (const one of report.notes) note(one);
}
