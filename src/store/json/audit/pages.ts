import { dayMs } from '../../../domain/clock.ts';
import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { PageRoom } from '../../../domain/page-room.ts';
import type { AuditEntry } from '../../../domain/records/rows.ts';
import { type AuditLink, isSealed, type SealedEntry } from '../../audit/audit-chain.ts';
import type { AuditPageQuery, Slice } from '../../store.ts';
import { damageError } from '../log/damage.ts';
import { dayFile, dayStart } from '../log/day-files.ts';
import { frame, isValidRecord } from '../log/frame.ts';
import type { Line } from '../log/line-reader.ts';
import { fillPage, type LogPage, type LogSource } from '../log/page-reader.ts';

/** A page stops after reading about this much, and returns what it has. */
const pageBytes = 32 * 1024 * 1024;

/** Position of an entry: the journal record, the index in it, and its day file. */
export interface EntryPosition {
  seq: number;
  n: number;
  file: string;
}

/**
 * An entry as its line. A busy minute has tens of thousands of entries, and a parsed one would take
 * a dozen objects.
 */
export interface PositionedEntry extends EntryPosition {
  bytes: Buffer;
}

export function frameEntry(seq: number, n: number, entry: AuditEntry, link?: AuditLink): Buffer {
  const linked = link === undefined ? '' : `,"link":${JSON.stringify(link)}`;
  return frame(`"seq":${seq},"n":${n},"entry":${JSON.stringify(entry)}${linked}}`);
}

function entryOf(bytes: Buffer): AuditEntry {
  return JSON.parse(bytes.toString()).entry;
}

/** Returns the entry of a line with its link, or `undefined` if it has none. */
export function sealedOf(line: Buffer): SealedEntry | undefined {
  const value = parsed(line.toString());
  if (!isSealed(value)) return undefined;
  const { entry, link } = value;
  return link === undefined ? { entry } : { entry, link };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const headPattern = /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"n":(\d+),"entry":/;

/**
 * Parses the position at the beginning of a line. Returns `undefined` if `frameEntry` did not write
 * it.
 */
export function positionOf(line: Buffer): Omit<EntryPosition, 'file'> | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, Math.min(line.length, 100)));
  return found ? { seq: Number(found[1]), n: Number(found[2]) } : undefined;
}

/**
 * A cursor has the form of an event id. Its 62 bits hold the record (42) and the index in it (20).
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
  view: LogSource,
  pending: readonly PositionedEntry[],
  query: AuditPageQuery,
): Promise<Slice<AuditEntry>> {
  const after = query.after === undefined ? undefined : positionOfCursor(query.after);
  if (query.after !== undefined && !after) return { items: [], next: null };
  const page = new AuditPage(query, after);
  for (let at = pending.length - 1; at >= 0 && !page.isDone; at--)
    page.takePending(pending[at] as PositionedEntry);
  if (!page.isDone) await fillPage(view, namesFor(view, query, after), page);
  return { items: page.items, next: page.next };
}

/** A clock that steps back leaves entries in a later day's file. One extra day allows for this. */
function namesFor(
  { files }: LogSource,
  { from = 0, to }: AuditPageQuery,
  after: EntryPosition | undefined,
): string[] {
  const first = dayFile(from);
  const last = to === undefined ? '~' : dayFile(to + dayMs);
  return files.names
    .filter((name) => name >= first && name <= last && (!after || name <= after.file))
    .reverse();
}

/** Whether an entry is about venues, and only about these. */
function isWithin(venueIds: readonly string[], { venueIds: about = [] }: AuditEntry): boolean {
  return about.length > 0 && about.every((id) => venueIds.includes(id));
}

class AuditPage implements LogPage {
  readonly order = 'desc';
  readonly items: AuditEntry[] = [];
  next: string | null = null;
  isDone = false;
  readonly #query: AuditPageQuery;
  readonly #after: EntryPosition | undefined;
  readonly #requiredTexts: string[];
  readonly #room = new PageRoom();
  #lastPosition: EntryPosition | undefined;
  #examinedBytes = 0;

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

  isBefore(head: Buffer): boolean | undefined {
    const position = positionOf(head);
    return position && this.#isBefore(position);
  }

  #isBefore({ seq, n }: Omit<EntryPosition, 'file'>): boolean {
    const after = this.#after;
    return !after || seq < after.seq || (seq === after.seq && n < after.n);
  }

  take(path: string, { offset, bytes }: Line): void {
    const position = positionOf(bytes);
    if (!position) throw damageError(path, 'a record is damaged', offset);
    const file = path.slice(path.lastIndexOf('/') + 1);
    this.#examinedBytes += bytes.length;
    if (this.#mayMatch(bytes)) {
      if (!isValidRecord(bytes)) throw damageError(path, 'a record is damaged', offset);
      this.#takeEntry({ ...position, file }, bytes);
    }
    if (this.isDone || this.#examinedBytes < pageBytes) return;
    this.isDone = true;
    this.next = cursorOf({ ...position, file });
  }

  takePending({ bytes, ...position }: PositionedEntry): void {
    if (this.#isBefore(position) && this.#mayMatch(bytes)) this.#takeEntry(position, bytes);
  }

  /** Fast filter on the bytes, which avoids parsing most entries. */
  #mayMatch(bytes: Buffer): boolean {
    return this.#requiredTexts.every((text) => bytes.includes(text));
  }

  #takeEntry(position: EntryPosition, bytes: Buffer): void {
    const entry = entryOf(bytes);
    if (!this.#isBefore(position) || !this.#matches(entry)) return;
    if (this.items.length < this.#query.limit && this.#room.take(bytes.length)) {
      this.items.push(entry);
      this.#lastPosition = position;
      return;
    }
    this.isDone = true;
    this.next = this.#lastPosition ? cursorOf(this.#lastPosition) : null;
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
