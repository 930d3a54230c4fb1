import { dayMs } from '../domain/clock.ts';
import { type BatchSums, DaySums } from '../domain/events/batch-counts.ts';
import { dayOf, type ReportClock, type ReportGroup } from '../domain/records/report.ts';

/** The impressions of one clock's day in one batch. */
export interface DayCount {
  clock: ReportClock;
  day: string;
  sums: DaySums;
}

/** In this order they stand in documents: few rows first, so that a report by campaign need not read past the screens. */
export const groupOrder: readonly ReportGroup[] = [
  'day',
  'campaign',
  'creative',
  'venue',
  'screen',
];

/** A batch's impressions by both clocks; `receivedAt` is in milliseconds. */
export function countBatch({ days }: BatchSums, receivedAt: number): DayCount[] {
  if (days.length === 0) return [];
  const counts = days.map(
    (sums): DayCount => ({ clock: 'timestamp', day: dayOf(sums.day * dayMs), sums }),
  );
  return [...counts, { clock: 'received', day: dayOf(receivedAt), sums: sumOfAll(days) }];
}

function sumOfAll(days: readonly DaySums[]): DaySums {
  const [first] = days;
  if (first && days.length === 1) return first;
  const sum = new DaySums(first?.day ?? 0);
  for (const one of days) sum.addAll(one);
  return sum;
}

/** How all lines of one group and scope begin. */
export function counterGroupOf(group: ReportGroup, scope: string): string {
  return `["${groupOrder.indexOf(group)}-${group}",${JSON.stringify(scope)},`;
}
