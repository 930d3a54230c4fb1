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
  venueId: string;
  simulated?: boolean | null | undefined;
  offsets?: readonly number[] | undefined;
}

/** Returns the matching events of a batch after a position, in the page's order. */
export function matchingEvents(
  { seq, receivedAt, offsets, simulated, ...batch }: PageBatch,
  events: readonly Record<string, unknown>[],
  { order, type }: EventPageQuery,
  after: EventPosition | undefined,
): StoredEvent[] {
  const isAfter = (index: number) =>
    after?.batch !== seq || (order === 'asc' ? index > after.index : index < after.index);
  const found = events.flatMap((event, index): StoredEvent[] => {
    if (!isAfter(index) || (type !== undefined && event.type !== type)) return [];
    const id = eventId({ receivedAtMs: receivedAt, batch: seq, index });
    const { deviceId, screenId, venueId, offsetMs = null } = batch;
    const utcOffset = offsets?.length === 1 ? offsets[0] : offsets?.[index];
    const place = { deviceId, screenId, venueId, simulated: simulated === true, utcOffset };
    return [{ id, ...place, receivedAt, offsetMs, event }];
  });
  return order === 'asc' ? found : found.reverse();
}
