import { minuteMs } from '../../../domain/clock.ts';
import { epochMs } from '../../../domain/fields.ts';
import { members, type View } from '../../output/view.ts';
import type { RecordedExchange } from './recording.ts';

/** The requests of one TV to one operation, or its heartbeat events. */
export interface SummaryRow {
  /** Number of the TV in the recording. `null`: management requests. */
  tv: number | null;
  /** Id of the operation, `heartbeat`, or method and path of an unknown endpoint. */
  operation: string;
  requests: number;
  /** Number of answers by status. `none` counts requests without an answer. */
  answers: Record<string, number>;
  /** Number of violations of the protocol. */
  wrong: number;
  /** Median interval between two requests, in seconds. `null` for fewer than two requests. */
  everySeconds: number | null;
  /**
   * Interval in the last config of the TV, in seconds. `null` if the operation has none, or if no
   * config was recorded.
   */
  configSeconds: number | null;
  /**
   * Remark that the measured interval differs from the config. `null` if both agree, or if one is
   * unknown.
   */
  remark: string | null;
}

/**
 * Relative difference up to which intervals count as equal. Requests take time, and players add
 * jitter.
 */
const tolerance = 0.25;

type IntervalMember = 'syncIntervalMinutes' | 'heartbeatIntervalMinutes';

const intervals: Readonly<Record<string, { member: IntervalMember; verb: string }>> = {
  getPlaylist: { member: 'syncIntervalMinutes', verb: 'polls' },
  getDeviceConfig: { member: 'syncIntervalMinutes', verb: 'polls' },
  heartbeat: { member: 'heartbeatIntervalMinutes', verb: 'reports' },
};

const startedMs = ({ at }: RecordedExchange) => Date.parse(at);
const seconds = (ms: number) => Math.round(ms / 100) / 10;

/** Returns the median gap in milliseconds. `timesMs` must be sorted. */
function medianGap(timesMs: readonly number[]): number | undefined {
  const gaps = timesMs.slice(1).map((time, at) => time - (timesMs[at] ?? 0));
  return gaps.sort((one, other) => one - other)[Math.floor((gaps.length - 1) / 2)];
}

/** Returns an interval of the last config that the TV got, in milliseconds. */
function configuredMs(
  exchanges: readonly RecordedExchange[],
  member: IntervalMember,
): number | undefined {
  const values = exchanges.map(({ config }) => config?.[member]);
  const minutes = values.filter((value) => typeof value === 'number').at(-1);
  return minutes === undefined ? undefined : minutes * minuteMs;
}

/** Returns the distinct times of the heartbeats of a TV, in milliseconds. */
function heartbeatTimes(exchanges: readonly RecordedExchange[]): number[] {
  const times = exchanges
    .flatMap(({ events = [] }) => events)
    .flatMap(({ type, timestamp }) =>
      type === 'heartbeat' && timestamp !== undefined ? [epochMs(timestamp)] : [],
    );
  return [...new Set(times)].sort((one, other) => one - other);
}

function timing(operation: string, timesMs: readonly number[], configMs: number | undefined) {
  const gapMs = medianGap(timesMs);
  const verb = intervals[operation]?.verb;
  const isOff =
    gapMs !== undefined && configMs !== undefined && Math.abs(gapMs / configMs - 1) > tolerance;
  return {
    everySeconds: gapMs === undefined ? null : seconds(gapMs),
    configSeconds: configMs === undefined ? null : seconds(configMs),
    remark: isOff ? `${verb} every ${seconds(gapMs)} s, config says ${seconds(configMs)}` : null,
  };
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort());
}

function groupByOperation(exchanges: readonly RecordedExchange[]) {
  const groups = new Map<string, RecordedExchange[]>();
  for (const exchange of exchanges) {
    const { operation, method, path } = exchange;
    const name = operation ?? `${method} ${path}`;
    const group = groups.get(name);
    if (group) group.push(exchange);
    else groups.set(name, [exchange]);
  }
  return groups;
}

function rowsOf(tv: number | null, exchanges: readonly RecordedExchange[]): SummaryRow[] {
  const configOf = (name: string) => {
    const interval = intervals[name];
    return interval && configuredMs(exchanges, interval.member);
  };
  const rows = [...groupByOperation(exchanges)].map(([operation, group]) => ({
    tv,
    operation,
    requests: group.length,
    answers: countBy(group, ({ status }) => String(status ?? 'none')),
    wrong: group.reduce((sum, { wrong }) => sum + wrong.length, 0),
    ...timing(operation, group.map(startedMs), configOf(operation)),
  }));
  const beats = heartbeatTimes(exchanges);
  if (beats.length === 0) return rows;
  const heartbeat = {
    tv,
    operation: 'heartbeat',
    requests: beats.length,
    answers: {},
    wrong: 0,
    ...timing('heartbeat', beats, configOf('heartbeat')),
  };
  return [...rows, heartbeat];
}

/** Counts the requests of each TV by operation, and compares their intervals with its config. */
export function summarize(exchanges: readonly RecordedExchange[]): SummaryRow[] {
  const tvs = [...new Set(exchanges.map(({ tv }) => tv))];
  // The management API comes last.
  tvs.sort((one, other) => (one ?? Infinity) - (other ?? Infinity));
  return tvs.flatMap((tv) =>
    rowsOf(
      tv,
      exchanges.filter((one) => one.tv === tv),
    ),
  );
}

export const summaryView: View<SummaryRow> = {
  columns: [
    ...members<SummaryRow>('tv', 'operation', 'requests'),
    {
      name: 'answers',
      value: ({ answers }) =>
        Object.entries(answers)
          .map(([status, count]) => `${status}: ${count}`)
          .join(', '),
    },
    ...members<SummaryRow>('everySeconds', 'configSeconds', 'wrong', 'remark'),
  ],
  nameOf: ({ tv, operation }) => `${tv ?? '-'} ${operation}`,
};
