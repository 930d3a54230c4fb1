import { crc32 } from 'node:zlib';

/**
 * Returns a function from a record's id to the name of its document, one of `count`: `<kind>-` and
 * hexadecimal digits of fixed length.
 */
export function shardNames(kind: string, count: number): (id: string) => string {
  const digits = (count - 1).toString(16).length;
  const names = Array.from(
    { length: count },
    (_, n) => `${kind}-${n.toString(16).padStart(digits, '0')}`,
  );
  return (id) => names[crc32(id) % count] as string;
}
