import { randomBytes } from 'node:crypto';
import type { Clock, Random } from './clock.ts';

/** Makes a fresh id at each call; whoever has just asked what time it is may say so. */
export type IdSource = (nowMs?: number) => string;

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Any 8-4-4-4-12 hex UUID, in lower case; `undefined` for what is none. Callers' ids may be of any version or none.
 *
 * @example asGuid('0190A5B4-…') // '0190a5b4-…'
 */
export function asGuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return guid.test(lower) ? lower : undefined;
}

/** Lays 16 bytes out as a UUID. */
export function formatGuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/**
 * UUIDs of version 7 (RFC 9562 §5.7) that sort in the order in which this source made them: 48 bits of milliseconds, a 12-bit counter
 * within the millisecond, 62 random bits. A clock that steps back does not: the source stays at the latest time it has seen.
 */
export function makeIdSource(clock: Clock, random: Random = randomBytes): IdSource {
  let timeMs = 0;
  let counter = 0;
  let timeText = '';
  const next = drawn(random);
  const begin = (ms: number) => {
    [timeMs, counter] = [ms, 0];
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
const drawnAtOnce = 512;

const tailOf = (hex: string) => `${hex.slice(0, 4)}-${hex.slice(4)}`;

/** The last 8 bytes of an id at each call: variant and random bits. To draw few at a time costs more than all else there is to an id. */
function drawn(random: Random): () => string {
  let tails: string[] = [];
  return () => {
    if (tails.length === 0) {
      const bytes = Buffer.from(random(8 * drawnAtOnce));
      for (let at = 0; at < bytes.length; at += 8)
        bytes[at] = ((bytes[at] as number) & 0x3f) | 0x80;
      tails = bytes.toString('hex').match(/.{16}/g)?.map(tailOf) ?? [];
    }
    return tails.pop() as string;
  };
}
