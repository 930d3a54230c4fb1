// Splits tar files into headers and bodies, and joins them again with arbitrary defects.

const blockBytes = 512;

/** A header of a tar file and the blocks that follow it. */
export interface TarBlocks {
  header: Buffer;
  body: Buffer;
}

/** Returns the entries of a valid tar file. */
export function takeApart(tar: Buffer): TarBlocks[] {
  const entries: TarBlocks[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const header = tar.subarray(at, at + blockBytes);
    const size = sizeOf(header);
    const end = at + blockBytes + size + (-size & (blockBytes - 1));
    entries.push({ header, body: tar.subarray(at + blockBytes, end) });
    at = end;
  }
  return entries;
}

export function putTogether(entries: readonly TarBlocks[]): Buffer {
  return Buffer.concat([
    ...entries.flatMap(({ header, body }) => [header, body]),
    Buffer.alloc(2 * blockBytes),
  ]);
}

export const nameOf = ({ header }: TarBlocks) => header.toString('utf8', 0, header.indexOf(0));
const sizeOf = (header: Buffer) => Number.parseInt(header.toString('latin1', 124, 135), 8);
export const contentOf = ({ header, body }: TarBlocks) => body.subarray(0, sizeOf(header));

export interface Fields {
  name?: string;
  type?: string;
  /** Written in octal. Bytes are written unchanged. */
  size?: number | Uint8Array;
  linkName?: string;
}

/** Returns the header with other fields and a correct checksum. */
export function withFields(header: Buffer, { name, type, size, linkName }: Fields): Buffer {
  const changed = Buffer.from(header);
  if (name !== undefined) changed.fill(0, 0, 100).write(name.slice(0, 100), 0, 100);
  if (type !== undefined) changed.write(type, 156, 1, 'latin1');
  if (linkName !== undefined) changed.fill(0, 157, 257).write(linkName, 157, 100);
  if (typeof size === 'number')
    changed.write(`${size.toString(8).padStart(11, '0').slice(-11)}\0`, 124, 'latin1');
  else if (size !== undefined) changed.set(size, 124);
  changed.fill(0x20, 148, 156);
  const sum = changed.reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return changed;
}

/** Returns an entry with this body and a copy of another entry's header. */
export function entryOf(like: Buffer, fields: Fields, body: Uint8Array): TarBlocks {
  const padding = Buffer.alloc(-body.length & (blockBytes - 1));
  return {
    header: withFields(like, { size: body.length, ...fields }),
    body: Buffer.concat([body, padding]),
  };
}

/** Encodes a size in base 256, big-endian, with the marker bit. */
export function base256(size: bigint, isNegative = false): Buffer {
  const bytes = Buffer.alloc(12, isNegative ? 0xff : 0);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, size), 4);
  bytes[0] = isNegative ? 0xff : 0x80;
  return bytes;
}

/** Returns a record of a PAX header. */
export function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}
