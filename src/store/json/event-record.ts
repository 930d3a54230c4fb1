import type { CountedEvent } from '../../domain/event.ts';
import { eventId } from '../../domain/event-id.ts';
import type { EventBatch } from '../store.ts';
import { framePieces } from './frame.ts';

/** 8 bytes each of the hash of an idempotency key and of the bytes it stood for, in hex. */
export interface KeyMark {
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
  mark?: KeyMark | undefined;
  events: readonly CountedEvent[];
}

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
export function idOf({ seq, receivedAt }: Pick<EventRecord, 'seq' | 'receivedAt'>, index: number): string {
  return eventId({ receivedAtMs: receivedAt, batch: seq, index });
}

/** The batch as the pieces of a line; its events are the bytes that came. */
export function recordPieces(record: EventRecord, body: EventBatch['body']): Uint8Array[] {
  const { seq, receivedAt, tenantId, venueId, screenId, deviceId, mark } = record;
  const head = JSON.stringify({ seq, id: idOf(record, 0), receivedAt, tenantId, venueId, screenId, deviceId, ...mark });
  return framePieces(`${head.slice(1, -1)},"events":`, body, '}');
}

/** The batch as a line. */
export function frameRecord(record: EventRecord, body: EventBatch['body']): Buffer {
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
  return { seq: Number(seq), receivedAt: Number(receivedAt), tenantId, venueId, screenId, deviceId };
}

/** A whole line, parsed. */
export function recordOf(line: Buffer): EventRecord & { events: (CountedEvent & Record<string, unknown>)[] } {
  const { crc: _crc, id: _id, key, sent, ...record } = JSON.parse(line.toString());
  return key === undefined ? record : { ...record, mark: { key, sent } };
}
