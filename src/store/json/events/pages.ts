import { type EventPosition, eventPosition } from '../../../domain/events/event-id.ts';
import { jsonBytes, PageRoom } from '../../../domain/page-room.ts';
import type { EventPageQuery, Slice, StoredEvent } from '../../store.ts';
import { dayFile, type LogFilesPosition } from '../log/day-files.ts';
import type { FramedLog } from '../log/framed-log.ts';
import { fillPage, type LogPage } from '../log/page-reader.ts';
import { type EventHead, eventsOf, headOf, idOf } from './event-record.ts';

/** Largest index of an event in a batch that an id can have. */
const lastIndex = 0xff;

/** Returns one page of the log's events. */
export async function eventPage(
  log: FramedLog<unknown, LogFilesPosition>,
  query: EventPageQuery,
): Promise<Slice<StoredEvent>> {
  const after = query.after === undefined ? undefined : eventPosition(query.after);
  // Not a valid event id: nothing comes after it.
  if (query.after !== undefined && !after) return { items: [], next: null };
  const page = new EventPage(query, after);
  await fillPage(log, namesFor(log.names, query, after), page);
  return { items: page.items, next: page.next };
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
  const first = dayFile(Math.max(0, ...lowerBounds));
  const last = dayFile(Math.min(Number.MAX_SAFE_INTEGER, ...upperBounds));
  const names = all.filter((name) => name >= first && name <= last);
  return order === 'asc' ? names : names.reverse();
}

class EventPage implements LogPage<EventHead> {
  readonly items: StoredEvent[] = [];
  next: string | null = null;
  readonly headOf = headOf;
  readonly #query: EventPageQuery;
  readonly #after: EventPosition | undefined;
  readonly #typeTexts: string[];
  readonly #room = new PageRoom();

  constructor(query: EventPageQuery, after: EventPosition | undefined) {
    this.#query = query;
    this.#after = after;
    // A type may be written with JSON escapes: lines with `\u` are parsed, too.
    this.#typeTexts = query.type === undefined ? [] : [JSON.stringify(query.type), '\\u'];
  }

  get order(): 'asc' | 'desc' {
    return this.#query.order;
  }

  get hasBoundary(): boolean {
    const { order, from, to } = this.#query;
    return this.#after !== undefined || (order === 'asc' ? from : to) !== undefined;
  }

  isBefore({ seq, receivedAt }: EventHead): boolean {
    const { from, to, order } = this.#query;
    const { batch, index } = this.#after ?? {};
    if (order === 'asc')
      return (batch !== undefined && seq < batch) || (from !== undefined && receivedAt < from);
    return !(
      (batch !== undefined && seq >= batch + (index === 0 ? 0 : 1)) ||
      (to !== undefined && receivedAt >= to)
    );
  }

  isPast({ receivedAt }: EventHead): boolean {
    const { from, to, order } = this.#query;
    return order === 'asc'
      ? to !== undefined && receivedAt >= to
      : from !== undefined && receivedAt < from;
  }

  mayMatch(head: EventHead, line: Buffer): boolean {
    const { tenantId, venueId, deviceId, screenId } = head;
    const query = this.#query;
    if (this.isBefore(head) !== (this.order === 'desc')) return false;
    if (tenantId !== query.tenantId) return false;
    if (query.venueIds && !query.venueIds.includes(venueId)) return false;
    if (query.deviceId !== undefined && deviceId !== query.deviceId) return false;
    if (query.screenId !== undefined && screenId !== query.screenId) return false;
    return this.#typeTexts.length === 0 || this.#typeTexts.some((text) => line.includes(text));
  }

  take(head: EventHead, line: Buffer): boolean {
    const { deviceId, screenId, receivedAt } = head;
    const events = eventsOf(line);
    for (let step = 0; step < events.length; step++) {
      const index = this.order === 'asc' ? step : events.length - 1 - step;
      const event = events[index];
      if (
        !event ||
        !this.#isAfter(head, index) ||
        (this.#query.type !== undefined && event.type !== this.#query.type)
      )
        continue;
      if (this.items.length === this.#query.limit || !this.#room.take(jsonBytes(event))) {
        this.next = this.items.at(-1)?.id ?? null;
        return true;
      }
      this.items.push({ id: idOf(head, index), deviceId, screenId, receivedAt, event });
    }
    return false;
  }

  endAfter(head: EventHead): void {
    this.next = idOf(head, this.order === 'asc' ? lastIndex : 0);
  }

  #isAfter({ seq }: EventHead, index: number): boolean {
    const after = this.#after;
    if (!after || seq !== after.batch) return true;
    return this.order === 'asc' ? index > after.index : index < after.index;
  }
}
