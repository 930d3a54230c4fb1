import type { ReadBody } from './body.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  return values.reduce<number>(
    (sum, one) => sum + membersOf(one),
    Array.isArray(value) ? 0 : values.length,
  );
}

/**
 * Returns a JSON body as one line that means exactly what was parsed: the bytes as sent, with line
 * breaks replaced by spaces. Valid JSON has line breaks only between tokens. A body with duplicate
 * or dropped members is serialized anew.
 */
export function compactLine({ bytes, json, scan }: ReadBody): Uint8Array {
  if (scan.isCompact) return bytes;
  if (membersOf(json) !== scan.members) return Buffer.from(JSON.stringify(json));
  if (!bytes.includes(lineFeed) && !bytes.includes(carriageReturn)) return bytes;
  return bytes.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte));
}
