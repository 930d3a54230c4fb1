import { type EventPosition, eventId } from '../domain/events/event-id.ts';
import type { EventPageQuery, StoredEvent } from './queries.ts';

/** The largest index of an event in a batch that an event id can encode. */
export const lastIndex = 0xff;

/** A stored batch of a page, without its events. */
interface PageBatch {
  seq: number;
  receivedAt: number;
  deviceId: string;
  screenId: string;
  offsetMs?: number | null | undefined;
}

/** Returns the matching events of a batch after a position, in the page's order. */
export function matchingEvents(
  { seq, receivedAt, deviceId, screenId, offsetMs = null }: PageBatch,
  events: readonly Record<string, unknown>[],
  { order, type }: EventPageQuery,
  after: EventPosition | undefined,
): StoredEvent[] {
  const isAfter = (index: number) =>
    after?.batch !== seq || (order === 'asc' ? index > after.index : index < after.index);
  const found = events.flatMap((event, index): StoredEvent[] => {
    if (!isAfter(index) || (type !== undefined && event.type !== type)) return [];
    const id = eventId({ receivedAtMs: receivedAt, batch: seq, index });
    return [{ id, deviceId, screenId, receivedAt, offsetMs, event }];
  });
  return order === 'asc' ? found : found.reverse();
}
