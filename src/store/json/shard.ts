import { crc32 } from 'node:zlib';

/** Which of `count` documents (a power of 16, or near below one) a record belongs to, as hexadecimal digits of fixed length. */
export function shardOf(id: string, count: number): string {
  return (crc32(id) % count).toString(16).padStart((count - 1).toString(16).length, '0');
}
