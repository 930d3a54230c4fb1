import { type EventPosition, eventPosition } from '../../../domain/events/event-id.ts';
import { largest, smallest } from '../../../domain/numbers/extremes.ts';
import { jsonBytes, PageItems } from '../../../domain/page-items.ts';
import { lastIndex, matchingEvents } from '../../event-items.ts';
import type { EventPageQuery, Slice, StoredEvent } from '../../queries.ts';
import { dayFile, type LogFilesPosition } from '../log/day-files.ts';
import { type EventHead, eventsOf, headOf, idOf } from '../log/event-record.ts';
import type { FramedLog } from '../log/framed-log.ts';
import { type PageScan, pageRecords } from '../log/page-reader.ts';

export async function eventPage(
  log: FramedLog<unknown, LogFilesPosition>,
  query: EventPageQuery,
): Promise<Slice<StoredEvent>> {
  const after = query.after === undefined ? undefined : eventPosition(query.after);
  // Not a valid event id: nothing comes after it.
  if (query.after !== undefined && !after) return { items: [], next: null };
  const page = new PageItems<StoredEvent>(query.limit);
  const range = { names: namesFor(log.names, query, after), end: log.end };
  for await (const { head, line } of pageRecords(log, range, scanFor(query, after))) {
    if (!line)
      return { items: page.items, next: idOf(head, query.order === 'asc' ? lastIndex : 0) };
    for (const item of matchingEvents(head, eventsOf(line), query, after)) {
      if (!page.add(item, jsonBytes(item.event)))
        return { items: page.items, next: page.items.at(-1)?.id ?? null };
    }
  }
  return { items: page.items, next: null };
}

/** Returns the files that may have matches, in reading order. */
function namesFor(
  all: readonly string[],
  { order, from, to }: EventPageQuery,
  after: EventPosition | undefined,
): string[] {
  const lowerBounds = [from, order === 'asc' ? after?.receivedAtMs : undefined].filter(
    (time) => time !== undefined,
  );
  const upperBounds = [to, order === 'desc' ? after?.receivedAtMs : undefined].filter(
    (time) => time !== undefined,
  );
  const first = dayFile(largest(lowerBounds, 0));
  const last = dayFile(smallest(upperBounds, Number.MAX_SAFE_INTEGER));
  const names = all.filter((name) => name >= first && name <= last);
  return order === 'asc' ? names : names.reverse();
}

function scanFor(query: EventPageQuery, after: EventPosition | undefined): PageScan<EventHead> {
  const { order, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, type } = query;
  const isAscending = order === 'asc';
  // The batch of `after` may have more events.
  const firstBatch = isAscending ? (after?.batch ?? 0) : 0;
  const endBatch = after && !isAscending ? after.batch + (after.index === 0 ? 0 : 1) : undefined;
  const isTooEarly = ({ seq, receivedAt }: EventHead) => seq < firstBatch || receivedAt < from;
  const isTooLate = ({ seq, receivedAt }: EventHead) =>
    receivedAt >= to || (endBatch !== undefined && seq >= endBatch);
  const isBefore = isAscending ? isTooEarly : (head: EventHead) => !isTooLate(head);
  const isBounded = after !== undefined || (isAscending ? query.from : query.to) !== undefined;
  return {
    order,
    headOf,
    isBefore: isBounded ? isBefore : undefined,
    isPast: isAscending ? isTooLate : isTooEarly,
    mayMatch(head, line) {
      const { tenantId, venueId, deviceId, screenId } = head;
      if (isTooEarly(head) || isTooLate(head)) return false;
      if (tenantId !== query.tenantId) return false;
      if (query.venueIds && !query.venueIds.includes(venueId)) return false;
      if (query.deviceId !== undefined && deviceId !== query.deviceId) return false;
      if (query.screenId !== undefined && screenId !== query.screenId) return false;
      // A type may be written with JSON escapes: lines with `\u` are parsed, too.
      return type === undefined || line.includes(JSON.stringify(type)) || line.includes('\\u');
    },
  };
}
