import { type BatchSums, batchSums } from '../../../domain/events/batch-counts.ts';
import type { CountedEvent } from '../../../domain/events/event.ts';
import { eventId } from '../../../domain/events/event-id.ts';
import type { EventBatch } from '../../store.ts';
import { framePieces } from '../log/frame.ts';

/** `shortHash` of an idempotency key, and of the bytes sent under it. */
export interface RecordedKey {
  key: string;
  sent: string;
}

/** One batch in the log. */
export interface EventRecord {
  /** Counts batches from 1 over all files. */
  seq: number;
  /** In milliseconds; never less than in the previous batch. */
  receivedAt: number;
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  recordedKey?: RecordedKey | undefined;
  sums: BatchSums;
}

/** The members at the beginning of the line. */
type RecordHead = Omit<EventRecord, 'sums'>;

/** The beginning of a line, readable without parsing its events. */
export interface EventHead {
  seq: number;
  receivedAt: number;
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
}

/** Progress of the log, as seen by the document owners. */
export interface EventProgress {
  /** Returns the last batch applied to the owners. */
  seq(): number;
  /** Whether documents should be written now. */
  due(): boolean;
}

/** Returns the id of the batch's event at `index`. */
export function idOf(
  { seq, receivedAt }: Pick<EventRecord, 'seq' | 'receivedAt'>,
  index: number,
): string {
  return eventId({ receivedAtMs: receivedAt, batch: seq, index });
}

/** Returns the line of a batch in pieces. The events are the bytes that were sent. */
export function recordPieces(record: RecordHead, body: EventBatch['body']): Uint8Array[] {
  const { seq, receivedAt, tenantId, venueId, screenId, deviceId, recordedKey } = record;
  const head = JSON.stringify({
    seq,
    id: idOf(record, 0),
    receivedAt,
    tenantId,
    venueId,
    screenId,
    deviceId,
    ...recordedKey,
  });
  return framePieces(`${head.slice(1, -1)},"events":`, body, '}');
}

/** Returns the line of a batch. */
export function frameRecord(record: RecordHead, body: EventBatch['body']): Buffer {
  return Buffer.concat(recordPieces(record, body));
}

const maxHeadBytes = 512;
const headPattern =
  /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"id":"[^"]*","receivedAt":(\d+),"tenantId":"([^"]*)","venueId":"([^"]*)","screenId":"([^"]*)","deviceId":"([^"]*)"/;

/** Parses the beginning of a line. Returns `undefined` if `frameRecord` did not write it. */
export function headOf(line: Buffer): EventHead | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, Math.min(line.length, maxHeadBytes)));
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

/** Returns the events of a whole line. */
export function eventsOf(line: Buffer): (CountedEvent & Record<string, unknown>)[] {
  return JSON.parse(line.toString()).events;
}

/** Parses a whole line. */
export function recordOf(line: Buffer): EventRecord {
  const { crc: _crc, id: _id, key, sent, events, ...head } = JSON.parse(line.toString());
  const record = { ...head, sums: batchSums(events) };
  return key === undefined ? record : { ...record, recordedKey: { key, sent } };
}
