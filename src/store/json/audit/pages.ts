import { dayMs } from '../../../domain/clock.ts';
import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { PageItems } from '../../../domain/page-items.ts';
import type { AuditEntry } from '../../../domain/records/audit.ts';
import type { AuditPageQuery, Slice } from '../../queries.ts';
import { dayFile, dayStart, type LogFilesPosition } from '../log/day-files.ts';
import type { FramedLog, LogRange } from '../log/framed-log.ts';
import { type PageRecord, type PageScan, pageRecords } from '../log/page-reader.ts';
import {
  type EntryNumber,
  type EntryPosition,
  entryOf,
  isAfter,
  type PositionedEntry,
  positionOf,
} from './entry-record.ts';

/**
 * A cursor has the form of an event id. Its time is the day of the entry's file. Its 62 bits for
 * batch and index hold the journal record (42 bits) and the entry's index in it (20 bits).
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
 * Returns one page of the trail, newest first: the pending entries, then those in the files.
 * `pending` lists the oldest entry first.
 */
export async function auditPage(
  log: FramedLog<unknown, LogFilesPosition>,
  pending: readonly PositionedEntry[],
  query: AuditPageQuery,
): Promise<Slice<AuditEntry>> {
  const after = query.after === undefined ? undefined : positionOfCursor(query.after);
  if (query.after !== undefined && !after) return { items: [], next: null };
  const isBefore = (entry: EntryNumber) => !after || isAfter(after, entry);
  const page = new PageItems<AuditEntry>(query.limit);
  const range = { names: namesFor(log.names, query, after), end: log.end };
  const scan: PageScan<EntryNumber> = {
    order: 'desc',
    headOf: positionOf,
    isBefore: after && isBefore,
    mayMatch: filterOf(query),
  };
  let last: EntryPosition | undefined;
  for await (const { file, head, line } of newestFirst(log, pending, range, scan)) {
    if (!line) return { items: page.items, next: cursorOf({ ...head, file }) };
    const entry = entryOf(line);
    if (!isBefore(head) || !matches(entry, query)) continue;
    if (!page.add(entry, line.length))
      return { items: page.items, next: last ? cursorOf(last) : null };
    last = { ...head, file };
  }
  return { items: page.items, next: null };
}

async function* newestFirst(
  log: FramedLog<unknown, LogFilesPosition>,
  pending: readonly PositionedEntry[],
  range: LogRange,
  scan: PageScan<EntryNumber>,
): AsyncGenerator<PageRecord<EntryNumber>> {
  for (const { file, bytes: line, ...head } of pending.toReversed())
    if (scan.mayMatch(head, line)) yield { file, head, line };
  yield* pageRecords(log, range, scan);
}

/**
 * Returns a fast filter for lines. It keeps the lines that contain all texts that a matching entry
 * must contain.
 */
function filterOf({
  tenantIds,
  action,
  subjectId,
}: AuditPageQuery): PageScan<EntryNumber>['mayMatch'] {
  const tenantId = tenantIds.length === 1 ? tenantIds[0] : undefined;
  const texts = [tenantId, action, subjectId]
    .filter((value) => value != null)
    .map((value) => JSON.stringify(value));
  return (_, line) => texts.every((text) => line.includes(text));
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

function matches(entry: AuditEntry, query: AuditPageQuery): boolean {
  const { tenantIds, venueIds, action, subjectId, from, to } = query;
  if (!tenantIds.includes(entry.tenantId)) return false;
  if (venueIds && !isWithin(venueIds, entry)) return false;
  if (action !== undefined && entry.action !== action) return false;
  if (subjectId !== undefined && entry.subject.id !== subjectId) return false;
  return (from === undefined || entry.at >= from) && (to === undefined || entry.at < to);
}
