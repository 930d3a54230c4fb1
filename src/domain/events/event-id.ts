import { formatGuid } from '../id.ts';

/**
 * Position of a stored event: time of receipt, batch number (from 1 over the whole log), and index
 * in the batch.
 */
export interface EventPosition {
  receivedAtMs: number;
  batch: number;
  index: number;
}

const variant = 0x8000_0000;
/** 2^24: the low 32 bits of an id hold 24 bits of the batch number, and 8 bits of the index. */
const lowBatches = 0x100_0000;

/**
 * Returns the id of a stored event: a version 7 UUID (RFC 9562 §5.7). Its last 62 bits are the
 * batch number (54) and the index in the batch (8). Ids sort in log order, so an id alone can serve
 * as a cursor. The caller ensures that `receivedAtMs` never decreases.
 */
export function eventId({ receivedAtMs, batch, index }: EventPosition): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(receivedAtMs, 0, 6);
  bytes.writeUInt16BE(0x7000, 6);
  // Written in two halves, because `bigint` is slow.
  bytes.writeUInt32BE(variant + Math.floor(batch / lowBatches), 8);
  bytes.writeUInt32BE((batch % lowBatches) * 0x100 + index, 12);
  return formatGuid(bytes);
}

/**
 * Parses an id to its position. Returns `undefined` for an id that `eventId` cannot have created.
 */
export function eventPosition(id: string): EventPosition | undefined {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16 || bytes.readUInt16BE(6) !== 0x7000) return undefined;
  const low = bytes.readBigUInt64BE(8);
  if (low >> 62n !== 0b10n) return undefined;
  const batch = Number((low & ((1n << 62n) - 1n)) >> 8n);
  return Number.isSafeInteger(batch)
    ? { receivedAtMs: bytes.readUIntBE(0, 6), batch, index: Number(low & 0xffn) }
    : undefined;
}
