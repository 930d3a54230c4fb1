import { formatGuid } from '../id.ts';

/** Where a stored event is: when it was received, in which batch (counted from 1 over the whole log), at which place in it. */
export interface EventPosition {
  receivedAtMs: number;
  batch: number;
  index: number;
}

const variant = 0x8000_0000;
/** The batch numbers that fit beside a place in 32 bits. */
const lowBatches = 0x100_0000;

/**
 * The id of a stored event: a UUID of version 7 (RFC 9562 §5.7) whose 62 free bits are the batch number (54) and the place in the batch (8).
 * Ids therefore sort as the log does, and an id alone tells where to go on reading. The caller keeps `receivedAtMs` from stepping back.
 */
export function eventId({ receivedAtMs, batch, index }: EventPosition): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(receivedAtMs, 0, 6);
  bytes.writeUInt16BE(0x7000, 6);
  // In two halves: large integers are slow.
  bytes.writeUInt32BE(variant + Math.floor(batch / lowBatches), 8);
  bytes.writeUInt32BE((batch % lowBatches) * 0x100 + index, 12);
  return formatGuid(bytes);
}

/** The other way round; `undefined` for an id that `eventId` did not make. */
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
