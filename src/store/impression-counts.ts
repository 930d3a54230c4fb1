import { dayMs } from '../domain/clock.ts';
import { type BatchSums, DaySums } from '../domain/events/batch-counts.ts';
import { dayOf, type ReportClock, type ReportGroup } from '../domain/records/report.ts';
import type { EventBatch, ImpressionQuery } from './queries.ts';

/**
 * Impressions of one batch on one day. `clock` tells whether it is the day of the timestamps or the
 * day of receipt.
 */
export interface DayCount {
  clock: ReportClock;
  day: string;
  sums: DaySums;
}

/**
 * Sort order of the groups in documents. Small groups come first, so that a report by campaign need
 * not read the lines of all screens.
 */
export const groupOrder: readonly ReportGroup[] = [
  'day',
  'campaign',
  'creative',
  'entry',
  'venue',
  'screen',
];

/** Days after this one, or before `firstDay`, come from TVs with wrong clocks. */
export const lastDay = '2099-12-31';

/**
 * Counts a batch's impressions by day, both by timestamp and by time of receipt. `receivedAt` is in
 * milliseconds.
 */
export function countBatch({ days }: BatchSums, receivedAt: number): DayCount[] {
  if (days.length === 0) return [];
  const byTimestamp = days.map(
    (sums): DayCount => ({ clock: 'timestamp', day: dayOf(sums.day * dayMs), sums }),
  );
  return [...byTimestamp, { clock: 'received', day: dayOf(receivedAt), sums: totalOf(days) }];
}

function totalOf(days: readonly DaySums[]): DaySums {
  const [first] = days;
  if (first && days.length === 1) return first;
  const total = new DaySums(first?.day ?? 0);
  for (const one of days) total.addAll(one);
  return total;
}

/**
 * Returns the scopes whose counters count a batch: its tenant and its venue. Batches of simulated
 * devices count in scopes of their own, so that a report can leave them out.
 */
export function scopesOf({
  tenantId,
  venueId,
  simulated,
}: Pick<EventBatch, 'tenantId' | 'venueId' | 'simulated'>): string[] {
  const scopes = [tenantId, venueId];
  return simulated ? scopes.map(simulatedScope) : scopes;
}

/** Returns the scopes whose counters a report adds up. */
export function reportScopes({
  tenantId,
  venueIds = [tenantId],
  simulated = 'include',
}: Pick<ImpressionQuery, 'tenantId' | 'venueIds' | 'simulated'>): string[] {
  const scopes = [...new Set(venueIds)];
  return [
    ...(simulated === 'only' ? [] : scopes),
    ...(simulated === 'exclude' ? [] : scopes.map(simulatedScope)),
  ];
}

function simulatedScope(scope: string): string {
  return `${scope}/simulated`;
}

/** Returns the common prefix of all lines of one group and scope. */
export function counterGroupOf(group: ReportGroup, scope: string): string {
  return `["${groupOrder.indexOf(group)}-${group}",${JSON.stringify(scope)},`;
}
