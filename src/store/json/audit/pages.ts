import { dayMs } from '../../../domain/clock.ts';
import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { PageRoom } from '../../../domain/page-room.ts';
import type { AuditEntry } from '../../../domain/records/rows.ts';
import type { AuditPageQuery, Slice } from '../../store.ts';
import { dayFile, dayStart, type LogFilesPosition } from '../log/day-files.ts';
import type { FramedLog } from '../log/framed-log.ts';
import { fillPage, type LogPage } from '../log/page-reader.ts';
import {
  type EntryNumber,
  type EntryPosition,
  entryOf,
  isAfter,
  type PositionedEntry,
  positionOf,
} from './entry-record.ts';

/**
 * A cursor has the form of an event id. Its 62 bits hold the journal record (42 bits) and the
 * entry's index in it (20 bits).
 */
function cursorOf({ seq, n, file }: EntryPosition): string {
  return eventId({
    receivedAtMs: dayStart(file),
    batch: seq * 4096 + Math.floor(n / 256),
    index: n % 256,
  });
}

function positionOfCursor(cursor: string): EntryPosition | undefined {
  const at = eventPosition(cursor);
  return (
    at && {
      seq: Math.floor(at.batch / 4096),
      n: (at.batch % 4096) * 256 + at.index,
      file: dayFile(at.receivedAtMs),
    }
  );
}

/**
 * Returns one page of the trail, newest first: pending entries (given oldest first), then the
 * files.
 */
export async function auditPage(
  log: FramedLog<unknown, LogFilesPosition>,
  pending: readonly PositionedEntry[],
  query: AuditPageQuery,
): Promise<Slice<AuditEntry>> {
  const after = query.after === undefined ? undefined : positionOfCursor(query.after);
  if (query.after !== undefined && !after) return { items: [], next: null };
  const page = new AuditPage(query, after);
  for (const { bytes, ...position } of pending.toReversed())
    if (page.isBefore(position) && page.mayMatch(position, bytes))
      if (page.take(position, bytes, position.file)) return { items: page.items, next: page.next };
  await fillPage(log, namesFor(log.names, query, after), page);
  return { items: page.items, next: page.next };
}

/**
 * Returns the files to read. After the clock stepped back, entries are in a later day's file, so
 * one extra day is read.
 */
function namesFor(
  all: readonly string[],
  { from = 0, to }: AuditPageQuery,
  after: EntryPosition | undefined,
): string[] {
  const first = dayFile(from);
  const last = to === undefined ? '~' : dayFile(to + dayMs);
  return all
    .filter((name) => name >= first && name <= last && (!after || name <= after.file))
    .reverse();
}

/** Whether an entry is about at least one venue, and only about venues in `venueIds`. */
function isWithin(venueIds: readonly string[], { venueIds: about = [] }: AuditEntry): boolean {
  return about.length > 0 && about.every((id) => venueIds.includes(id));
}

class AuditPage implements LogPage<EntryNumber> {
  readonly order = 'desc';
  readonly items: AuditEntry[] = [];
  next: string | null = null;
  readonly headOf = positionOf;
  readonly #query: AuditPageQuery;
  readonly #after: EntryPosition | undefined;
  readonly #requiredTexts: string[];
  readonly #room = new PageRoom();
  #lastPosition: EntryPosition | undefined;

  constructor(query: AuditPageQuery, after: EntryPosition | undefined) {
    this.#query = query;
    this.#after = after;
    const { tenantIds, action, subjectId } = query;
    const tenantId = tenantIds.length === 1 ? tenantIds[0] : undefined;
    this.#requiredTexts = [tenantId, action, subjectId]
      .filter((value) => value != null)
      .map((value) => JSON.stringify(value));
  }

  get hasBoundary(): boolean {
    return this.#after !== undefined;
  }

  isBefore(entry: EntryNumber): boolean {
    return !this.#after || isAfter(this.#after, entry);
  }

  mayMatch(_: EntryNumber, line: Buffer): boolean {
    return this.#requiredTexts.every((text) => line.includes(text));
  }

  take({ seq, n }: EntryNumber, line: Buffer, file: string): boolean {
    const entry = entryOf(line);
    if (!this.isBefore({ seq, n }) || !this.#matches(entry)) return false;
    if (this.items.length < this.#query.limit && this.#room.take(line.length)) {
      this.items.push(entry);
      this.#lastPosition = { seq, n, file };
      return false;
    }
    this.next = this.#lastPosition ? cursorOf(this.#lastPosition) : null;
    return true;
  }

  endAfter({ seq, n }: EntryNumber, file: string): void {
    this.next = cursorOf({ seq, n, file });
  }

  #matches(entry: AuditEntry): boolean {
    const { tenantIds, venueIds, action, subjectId, from, to } = this.#query;
    if (!tenantIds.includes(entry.tenantId)) return false;
    if (venueIds && !isWithin(venueIds, entry)) return false;
    if (action !== undefined && entry.action !== action) return false;
    if (subjectId !== undefined && entry.subject.id !== subjectId) return false;
    return (from === undefined || entry.at >= from) && (to === undefined || entry.at < to);
  }
}
