import { type BatchSums, batchSums } from '../../../domain/events/batch-counts.ts';
import type { CountedEvent } from '../../../domain/events/event.ts';
import { eventId } from '../../../domain/events/event-id.ts';
import type { EventBatch } from '../../store.ts';
import { framePieces } from '../log/frame.ts';

/** 8 bytes each of the hash of an idempotency key and of the bytes it stood for, in hex. */
export interface RecordedKey {
  key: string;
  sent: string;
}

/** One batch as the log has it. */
export interface EventRecord {
  /** Counts batches from 1 over all files. */
  seq: number;
  /** Milliseconds; never less than that of the batch before. */
  receivedAt: number;
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  mark?: RecordedKey | undefined;
  sums: BatchSums;
}

/** What its line begins with. */
type RecordHead = Omit<EventRecord, 'sums'>;

/** What can be told from the beginning of a line, without parsing its events. */
export interface EventHead {
  seq: number;
  receivedAt: number;
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
}

/** How far the log is, as the owners of its documents see it. */
export interface EventProgress {
  /** The last batch that they have been given. */
  seq(): number;
  /** Whether documents are to be written now. */
  due(): boolean;
}

/** The id of a batch's event. */
export function idOf(
  { seq, receivedAt }: Pick<EventRecord, 'seq' | 'receivedAt'>,
  index: number,
): string {
  return eventId({ receivedAtMs: receivedAt, batch: seq, index });
}

/** The batch as the pieces of a line; its events are the bytes that came. */
export function recordPieces(record: RecordHead, body: EventBatch['body']): Uint8Array[] {
  const { seq, receivedAt, tenantId, venueId, screenId, deviceId, mark } = record;
  const head = JSON.stringify({
    seq,
    id: idOf(record, 0),
    receivedAt,
    tenantId,
    venueId,
    screenId,
    deviceId,
    ...mark,
  });
  return framePieces(`${head.slice(1, -1)},"events":`, body, '}');
}

/** The batch as a line. */
export function frameRecord(record: RecordHead, body: EventBatch['body']): Buffer {
  return Buffer.concat(recordPieces(record, body));
}

const headLength = 512;
const headPattern =
  /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"id":"[^"]*","receivedAt":(\d+),"tenantId":"([^"]*)","venueId":"([^"]*)","screenId":"([^"]*)","deviceId":"([^"]*)"/;

/** The beginning of a line, `undefined` when that is not what `frameRecord` makes. */
export function headOf(line: Buffer): EventHead | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, Math.min(line.length, headLength)));
  if (!found) return undefined;
  const [, seq, receivedAt, tenantId = '', venueId = '', screenId = '', deviceId = ''] = found;
  return {
    seq: Number(seq),
    receivedAt: Number(receivedAt),
    tenantId,
    venueId,
    screenId,
    deviceId,
  };
}

/** The events of a whole line. */
export function eventsOf(line: Buffer): (CountedEvent & Record<string, unknown>)[] {
  return JSON.parse(line.toString()).events;
}

/** A whole line as the batch that it was. */
export function recordOf(line: Buffer): EventRecord {
  const { crc: _crc, id: _id, key, sent, events, ...head } = JSON.parse(line.toString());
  const record = { ...head, sums: batchSums(events) };
  return key === undefined ? record : { ...record, mark: { key, sent } };
}
