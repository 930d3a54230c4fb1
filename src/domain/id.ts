import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Random } from './clock.ts';

/**
 * Returns a new id at each call. A caller that knows the time passes `nowMs`, which saves reading
 * the clock.
 */
export type IdSource = (nowMs?: number) => string;

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Converts a UUID of any version to lower case. Returns `undefined` for other text.
 *
 * @example asGuid('0190A5B4-…') // '0190a5b4-…'
 */
export function asGuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return guid.test(lower) ? lower : undefined;
}

/** Whether a text is a UUID of any version, in upper or lower case. */
export const isGuid = (text: string): boolean => asGuid(text) !== undefined;

/** Formats 16 bytes as a UUID. */
export function formatGuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Returns the UUIDv5 of a name in a namespace of 16 bytes (RFC 9562 §5.5). */
export function nameGuid(namespace: Uint8Array, name: string): string {
  const bytes = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatGuid(bytes);
}

/**
 * Returns a source of version 7 UUIDs (RFC 9562 §5.7) that sort in order of creation. They have 48
 * bits of milliseconds, a 12-bit counter within the millisecond, and 62 random bits. If the clock
 * steps back, the source keeps the latest time it has seen.
 */
export function makeIdSource(clock: Clock, random: Random = randomBytes): IdSource {
  let timeMs = -1;
  let counter = 0;
  let timeText = '';
  const next = randomTails(random);
  const begin = (ms: number) => {
    timeMs = ms;
    counter = 0;
    const hex = ms.toString(16).padStart(12, '0');
    timeText = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
  };
  return (now = clock.now()) => {
    if (now > timeMs) begin(now);
    else if (++counter > 0xfff) begin(timeMs + 1);
    return timeText + counters[counter] + next();
  };
}

const counters = Array.from(
  { length: 0x1000 },
  (_, counter) => `${(0x1000 | counter).toString(16).slice(1)}-`,
);
const tailsPerCall = 512;

const tailOf = (hex: string) => `${hex.slice(0, 4)}-${hex.slice(4)}`;

/**
 * Returns a function that returns the last 8 bytes of an id: variant and random bits. Random bytes
 * are requested in batches, because small requests are slow.
 */
function randomTails(random: Random): () => string {
  let tails: string[] = [];
  return () => {
    if (tails.length === 0) {
      const bytes = Buffer.from(random(8 * tailsPerCall));
      for (let at = 0; at < bytes.length; at += 8)
        bytes[at] = ((bytes[at] as number) & 0x3f) | 0x80;
      tails = bytes.toString('hex').match(/.{16}/g)?.map(tailOf) ?? [];
    }
    return tails.pop() as string;
  };
}
