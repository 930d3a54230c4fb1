import { batchSums } from '../../domain/events/batch-counts.ts';
import type { TelemetryEvent } from '../../domain/events/event.ts';
import type { EventBatch, EventPageQuery, StoredEvent } from '../../store/queries.ts';

/** Returns an id that is easy to recognise in a failure report. */
export function guid(kind: string, number: number): string {
  return `${Buffer.from(kind.padEnd(4, '_')).toString('hex').slice(0, 8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

export const tenantA = guid('tena', 1);
export const tenantB = guid('tena', 2);

export function impression(
  timestampMs: number,
  more: Partial<TelemetryEvent> & Record<string, unknown> = {},
): TelemetryEvent {
  return {
    type: 'impression',
    timestamp: timestampMs,
    playlistId: guid('play', 1),
    creativeId: guid('crea', 1),
    campaignId: guid('camp', 1),
    ...more,
  };
}

/** Returns a batch of one device, with an optional `Idempotency-Key`. */
export function batchOf(
  events: TelemetryEvent[],
  { key, sent, ...more }: Partial<EventBatch> & { key?: string; sent?: string } = {},
): EventBatch {
  const body = Buffer.from(JSON.stringify(events));
  const idempotency =
    key === undefined
      ? {}
      : { idempotency: { key, sent: sent === undefined ? body : Buffer.from(sent) } };
  return {
    tenantId: tenantA,
    venueId: guid('venu', 1),
    screenId: guid('scre', 1),
    deviceId: guid('devi', 1),
    body,
    sums: batchSums(events),
    ...idempotency,
    ...more,
  };
}

/** Returns a query of all events, newest first. */
export const everything = (query: Partial<EventPageQuery> = {}) => ({
  tenantId: tenantA,
  order: 'desc' as const,
  limit: 200,
  ...query,
});

/** Returns the numbers that `log` gave to the events. */
export const numbers = (items: StoredEvent[]) => items.map(({ event }) => event.n);

export const log = (n: number, type = 'log'): TelemetryEvent => ({
  type,
  timestamp: 1_760_000_000,
  n,
});
