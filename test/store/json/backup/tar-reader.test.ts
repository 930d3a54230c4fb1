import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { TarReader } from '../../../../src/store/json/backup/tar-reader.ts';

const blockBytes = 512;

/** A header block with a valid checksum. */
function header({
  name = 'a.json',
  prefix = '',
  size = '00000000000',
  type = '0',
  magic = 'ustar\0',
} = {}): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write(size, 124, 'latin1');
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write(magic, 257, 'latin1');
  block.write('00', 263, 'latin1');
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** A PAX header with these records, as bytes. */
function pax(records: string): Buffer {
  const size = records.length.toString(8).padStart(11, '0');
  const body = Buffer.alloc(Math.ceil(records.length / blockBytes) * blockBytes);
  body.write(records);
  return Buffer.concat([header({ name: 'PaxHeader', size, type: 'x' }), body]);
}

const end = Buffer.alloc(2 * blockBytes);

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The names and contents of all entries, or the message of the error. */
async function read(bytes: Uint8Array, chunkBytes = 100): Promise<Record<string, string> | string> {
  const tar = new TarReader(chunksOf(bytes, chunkBytes));
  const files: Record<string, string> = {};
  try {
    for (let entry = await tar.next(); entry; entry = await tar.next()) {
      const parts: Uint8Array[] = [];
      for await (const chunk of tar.body()) parts.push(chunk);
      files[entry.name] = Buffer.concat(parts).toString();
    }
  } catch (error) {
    return (error as Error).message;
  }
  return files;
}

describe('a tar file of plain files', () => {
  it('is read in chunks of any size', async () => {
    const long = `${'folder/'.repeat(20)}file.json`;
    const bytes = await packTar([
      { header: { name: 'a.json', size: 2, type: 'file' }, body: '{}' },
      { header: { name: long, size: 700, type: 'file' }, body: 'x'.repeat(700) },
    ]);
    const files = { 'a.json': '{}', [long]: 'x'.repeat(700) };
    for (const chunkBytes of [1, 511, 512, 100_000])
      expect(await read(bytes, chunkBytes)).toEqual(files);
  });

  it('can have names in two parts, sizes in base-256, and sizes and paths in a PAX header', async () => {
    const base256 = '\x80'.padEnd(12, '\0');
    const bytes = Buffer.concat([
      header({ name: 'b.json', prefix: 'folder' }),
      header({ name: 'c.json', size: base256 }),
      pax('15 path=d.json\n10 size=0\n'),
      header({ name: 'other' }),
      pax('15 path=e.json\n'),
      header({ name: 'other' }),
      pax('10 size=0\n'),
      header({ name: 'f.json', size: '00000000001' }),
      end,
    ]);
    expect(Object.keys(await read(bytes))).toEqual([
      'folder/b.json',
      'c.json',
      'd.json',
      'e.json',
      'f.json',
    ]);
  });

  it('can have headers from before ustar, which have no prefix', async () => {
    const old = header({ prefix: 'folder', magic: '' });
    expect(await read(Buffer.concat([old, end]))).toEqual({ 'a.json': '' });
  });

  it.each([
    [
      'a link',
      Buffer.concat([header({ type: '2' }), end]),
      '"a.json" is not a plain file (its type is "2")',
    ],
    [
      'a name over 100 characters',
      header({ name: 'n'.repeat(100), prefix: 'p', type: '5' }),
      `"p/${'n'.repeat(98)}…" is not a plain file (its type is "5")`,
    ],
    ['a size that is not a number', header({ size: 'abc' }), '"a.json" has no valid size'],
    [
      'a size too large for a number',
      header({ size: '\x80'.padEnd(12, '\xff') }),
      '"a.json" has no valid size',
    ],
    [
      'a size in a PAX header that is not a number',
      Buffer.concat([pax('12 size=abc\n'), header()]),
      '"a.json" has no valid size',
    ],
    [
      'a PAX header without a length',
      Buffer.concat([pax('path=d.json\n'), header()]),
      'it has a damaged PAX header',
    ],
    [
      'a PAX header without a key',
      Buffer.concat([pax('5 =a\n'), header()]),
      'it has a damaged PAX header',
    ],
    [
      'a PAX header that is longer than 64 KiB',
      header({ name: 'PaxHeader', size: '00000400000', type: 'x' }),
      '"PaxHeader" is a header of 131072 bytes, and the limit is 65536',
    ],
    [
      'nothing behind a PAX header',
      Buffer.concat([pax('15 path=d.json\n'), end]),
      'it ends after a header',
    ],
    [
      'a block of zeros in the middle',
      Buffer.concat([Buffer.alloc(blockBytes), header()]),
      'a block of zeros stands at byte 0',
    ],
    ['no header', Buffer.alloc(blockBytes, 'x'), 'it is not a tar file'],
    [
      'no header behind a file',
      Buffer.concat([header(), Buffer.alloc(blockBytes, 'x')]),
      'no header of a tar file stands at byte 512',
    ],
    [
      'no end',
      header({ size: '00000000012' }),
      'it is cut short: it ends at byte 512, in "a.json"',
    ],
  ])('is rejected with %s', async (_, bytes, message) => {
    expect(await read(bytes)).toBe(message);
  });
});
