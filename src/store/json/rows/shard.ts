import { crc32 } from 'node:zlib';

/** Tells the name of the document that a record belongs to, of `count` of them: `<kind>-` and hexadecimal digits of fixed length. */
export function shardNames(kind: string, count: number): (id: string) => string {
  const digits = (count - 1).toString(16).length;
  const names = Array.from(
    { length: count },
    (_, n) => `${kind}-${n.toString(16).padStart(digits, '0')}`,
  );
  return (id) => names[crc32(id) % count] as string;
}
