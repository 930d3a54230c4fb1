import type {
  EventCounts,
  Failures,
  FaultCount,
  FleetProgress,
  FleetReport,
  LeftBehind,
} from '../../simulator/fleet/report.ts';
import type { EndpointTraffic } from '../../simulator/tv/latency.ts';
import type { Reconciliation } from '../../simulator/verify/reconcile.ts';
import { listTable } from '../output/table.ts';
import type { Column } from '../output/view.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import { pairs, wrapIndented } from '../terminal/wrap.ts';

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

const millis = (
  name: 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs',
  title: string,
): Column<EndpointTraffic> => ({
  name: title,
  value: (endpoint) => `${shortMs(endpoint[name])} ms`,
});

const endpointColumns: readonly Column<EndpointTraffic>[] = [
  { name: 'call', value: ({ operation }) => operation },
  { name: 'requests', value: ({ requests }) => requests },
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
];

const faultColumns: readonly Column<FaultCount>[] = [
  { name: 'fault', value: ({ rule }) => rule },
  { name: 'times', value: ({ count }) => count },
];

async function table<T>(
  stdout: Output,
  columns: readonly Column<T>[],
  records: readonly T[],
): Promise<void> {
  if (records.length === 0) return;
  stdout.write('\n');
  const width = widthOf(stdout);
  const writer = listTable({
    stdout,
    columns: columns as readonly Column<unknown>[],
    ...(width !== undefined && { fit: { lineWidth: width } }),
  });
  await writer.add(records);
}

/** Returns the width of a terminal. */
const widthOf = ({ isTTY, columns }: Output) => (isTTY ? columns : undefined);

function list(stdout: Output, title: string, items: readonly Failures[]): string {
  const lines = items.map(({ code, count, message }) => {
    const text = `${count} × ${escapeControl(code)}: ${escapeControl(message)}`;
    return `  ${wrapIndented(text, 4, widthOf(stdout))}\n`;
  });
  return items.length === 0 ? '' : `\n${title}\n${lines.join('')}`;
}

/** Prints the report of a run for people. */
export async function writeReport(stdout: Output, report: FleetReport): Promise<void> {
  const {
    seed,
    tvs,
    seconds,
    hoursLived,
    requests,
    requestsPerSecond,
    repeatedBatches,
    events,
    reconciliation,
  } = report;
  const unpaired = tvs.unpaired === 0 ? '' : `, ${tvs.unpaired} without a valid code`;
  stdout.write(
    pairs(
      [
        ['Seed', `${seed} (to repeat the run: --seed ${seed})`],
        ['TVs', `${tvs.bound} of ${tvs.count} bound${unpaired}`],
        ['Lived', `${hoursLived.toFixed(1)} hours each, in ${seconds.toFixed(1)} s of real time`],
        ['Requests', `${requests}, ${requestsPerSecond.toFixed(0)} per second`],
        ['Events', `${eventsText(events)}; ${repeatedBatches} batches retried`],
        ...(report.rotations > 0 || reconciliation.keys
          ? [['Keys', keysText(report)] as const]
          : []),
        ['Compared', comparedText(reconciliation)],
        ['Left', leftText(report.left)],
      ],
      widthOf(stdout),
    ),
  );
  await table(stdout, endpointColumns, report.endpoints);
  await table(stdout, faultColumns, report.faults);
  stdout.write(list(stdout, 'Errors that TVs recovered from:', report.failures));
  stdout.write(list(stdout, 'Violations by the service:', reconciliation.findings));
  for (const note of report.notes)
    stdout.write(`\n${wrapIndented(`Note: ${escapeControl(note)}`, 2, widthOf(stdout))}\n`);
}
