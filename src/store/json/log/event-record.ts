import { type BatchSums, batchSums } from '../../../domain/events/batch-counts.ts';
import type { CountedEvent } from '../../../domain/events/event.ts';
import { eventId } from '../../../domain/events/event-id.ts';
import type { Records } from '../../dump/records.ts';
import type { EventBatch } from '../../queries.ts';
import { isDayFile, type LogFilesPosition } from './day-files.ts';
import { framePieces } from './frame.ts';
import type { LogFormat } from './log-records.ts';

/**
 * Position of the event log. The documents contain all batches up to `seq`. `receivedAt` is in Unix
 * milliseconds. No later batch has an earlier time.
 */
export interface EventLogPosition extends LogFilesPosition {
  receivedAt: number;
}

/** `shortHash` of an idempotency key, and of the bytes sent under it. */
export interface RecordedKey {
  key: string;
  sent: string;
}

/** The beginning of a line, readable without parsing its events. */
export type EventHead = Omit<Records['batches'], 'body'>;

/** One batch in the log, without its events. */
interface BatchHead extends EventHead {
  recordedKey?: RecordedKey | undefined;
}

/** One batch in the log, with the sums of its events. */
export interface EventRecord extends BatchHead {
  sums: BatchSums;
}

/** Progress of the event log, as used by the document owners. */
export interface EventProgress {
  /** Returns the number of the last batch applied to the owners. */
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

const beforeEvents = '"events":';

/** Returns the line of a batch in pieces. The events are the bytes that were sent. */
export function recordPieces(record: BatchHead, body: EventBatch['body']): Uint8Array[] {
  const { seq, receivedAt, tenantId, venueId, screenId, deviceId } = record;
  const { simulated, offsetMs, offsets, recordedKey } = record;
  const head = JSON.stringify({
    seq,
    id: idOf(record, 0),
    receivedAt,
    tenantId,
    venueId,
    screenId,
    deviceId,
    simulated,
    offsetMs,
    offsets,
    ...recordedKey,
  });
  return framePieces(`${head.slice(1, -1)},${beforeEvents}`, body, '}');
}

export function frameRecord(record: BatchHead, body: EventBatch['body']): Buffer {
  return Buffer.concat(recordPieces(record, body));
}

/** Enough unless the offset changes between the events of a batch. */
const usualHeadBytes = 512;
const maxHeadBytes = 2048;
const headPattern =
  /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"id":"[^"]*","receivedAt":(\d+),"tenantId":"([^"]*)","venueId":"([^"]*)","screenId":"([^"]*)","deviceId":"([^"]*)"(,"simulated":true)?(?:,"offsetMs":(-?\d+))?(?:,"offsets":(\[[-\d,]+\]))?/;

/**
 * Parses the beginning of a line. Returns `undefined` for a line that begins differently from those
 * of `frameRecord`.
 */
export function headOf(line: Buffer): EventHead | undefined {
  const textOf = (bytes: number) => line.toString('latin1', 0, Math.min(line.length, bytes));
  const usual = textOf(usualHeadBytes);
  const found = headPattern.exec(usual.includes(beforeEvents) ? usual : textOf(maxHeadBytes));
  if (!found) return undefined;
  const [, seq, receivedAt, tenantId = '', venueId = '', screenId = '', deviceId = ''] = found;
  const [mark, offsetMs, offsets] = found.slice(7);
  return {
    seq: Number(seq),
    receivedAt: Number(receivedAt),
    tenantId,
    venueId,
    screenId,
    deviceId,
    ...(mark !== undefined && { simulated: true }),
    ...(offsetMs !== undefined && { offsetMs: Number(offsetMs) }),
    ...(offsets !== undefined && { offsets: JSON.parse(offsets) as number[] }),
  };
}

/** Returns the batch of a whole line. Its events remain text. `undefined`: it is not a batch. */
export function batchOf(line: Buffer): Records['batches'] | undefined {
  const head = headOf(line);
  const start = line.indexOf(beforeEvents) + beforeEvents.length;
  if (!head || start < beforeEvents.length) return undefined;
  return { ...head, body: line.toString('utf8', start, line.length - 1) };
}

/** Number and time of a batch. */
export type BatchNumber = Pick<EventHead, 'seq' | 'receivedAt'>;

/** Batches are numbered without gaps across all files. Their time never decreases. */
export const eventFormat: LogFormat<BatchNumber, EventLogPosition> = {
  folder: 'events',
  start: { file: null, size: 0, seq: 0, receivedAt: 0 },
  isCheckpointed: false,
  isLogFile: isDayFile,
  headOf,
  problemOf({ head }, before) {
    return head.seq === before.seq + 1 && head.receivedAt >= before.receivedAt
      ? undefined
      : `batch ${before.seq + 1} must be here`;
  },
};

export function eventsOf(line: Buffer): (CountedEvent & Record<string, unknown>)[] {
  return JSON.parse(line.toString()).events;
}

/** Parses a whole line. */
export function recordOf(line: Buffer): EventRecord {
  const { crc: _crc, id: _id, key, sent, events, ...head } = JSON.parse(line.toString());
  const record = { ...head, sums: batchSums(events, head.offsets) };
  return key === undefined ? record : { ...record, recordedKey: { key, sent } };
}
