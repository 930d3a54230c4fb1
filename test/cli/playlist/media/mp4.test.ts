import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMp4Layout } from '../../../../src/cli/examination/mp4.ts';

/** A box with a size of 32 bits. */
function box(type: string, size: number, length = size): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32BE(size, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
}

/** A box with a size of 64 bits. */
function largeBox(type: string, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt32BE(1, 0);
  bytes.write(type, 4, 'latin1');
  bytes.writeBigUInt64BE(BigInt(size), 8);
  return bytes;
}

const layout = (file: Buffer, total: number | undefined = file.length) => {
  let reads = 0;
  const read = async (offset: number, length: number) => {
    reads++;
    return file.subarray(offset, offset + length);
  };
  return readMp4Layout(read, total).then((found) => ({ ...found, reads }));
};

describe('readMp4Layout', () => {
  const start = box('ftyp', 24);
  it.each([
    ['before', [start, box('moov', 40), box('mdat', 99)]],
    ['before', [start, box('moov', 40), box('free', 8), largeBox('mdat', 99)]],
    ['before', [start, box('moov', 40), box('mdat', 0, 99)]],
    ['before', [start, box('moov', 40), box('sidx', 20), box('moof', 30), box('mdat', 99)]],
    ['after', [start, box('mdat', 99), box('moov', 40)]],
    ['after', [start, box('free', 8), largeBox('mdat', 99), box('udta', 8), box('moov', 40)]],
    ['absent', [start, box('mdat', 99)]],
    ['absent', [start]],
    ['unknown', [start, Buffer.alloc(40)]],
    ['unknown', [start, ...Array.from({ length: 40 }, () => box('free', 8)), box('moov', 40)]],
  ])('finds the index: %s', async (moov, boxes) => {
    expect(await layout(Buffer.concat(boxes))).toMatchObject({ moov, isTruncated: false });
  });

  it.each([
    [[start, box('moov', 40), box('mdat', 9000, 99)]],
    [[start, box('mdat', 9000, 99)]],
    [[start, box('mdat', 99), box('moov', 400, 40)]],
    [[start, box('moov', 400, 40)]],
  ])('detects a truncated file', async (boxes) => {
    expect(await layout(Buffer.concat(boxes))).toMatchObject({ isTruncated: true });
  });

  it('places the index after the media data when only the media data can be read', async () => {
    const read = async (offset: number) => (offset < 50 ? box('mdat', 9000, 16) : undefined);
    expect(await readMp4Layout(read)).toEqual({ moov: 'after', isTruncated: false });
  });

  it('ends after a few reads for any bytes', async () => {
    const types = fc.constantFrom('moov', 'mdat', 'free', 'moof', 'ftyp', '\0\0\0\0');
    const sizes = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant(0xffffffff));
    const boxes = fc.array(
      fc
        .tuple(types, sizes)
        .map(([type, size]) => box(type, size, Math.min(Math.max(size, 8), 40))),
    );
    const sizeOrNone = fc.option(fc.nat(2000), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(boxes, sizeOrNone, async (parts, total) => {
        const { reads } = await layout(Buffer.concat(parts), total);
        expect(reads).toBeLessThanOrEqual(16);
      }),
    );
  });
});
