// Files whose end is missing: browsers show what is left of them, without an error.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examine } from '../../../src/media/examination/examine.ts';
import { headBytes } from '../../../src/media/examination/verdict.ts';
import { makeVideo } from '../../cli/media/make-video.ts';
import { png } from '../../support/network/media-server.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const jpeg = Buffer.concat([
  bytes('\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xda\0\x08\x01\x01\0\0?\0'),
  Buffer.alloc(100_000, 7),
  bytes('\xff\xd9'),
]);
const gif = Buffer.concat([
  bytes('GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02'),
  ...Array.from({ length: 9 }, () => Buffer.from([255, ...Array(255).fill(7)])),
  bytes('\0;'),
]);
const webp = bytes('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0');
const box = (type: string, body: Buffer, size = 8 + body.length) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};
const avif = Buffer.concat([
  box('ftyp', bytes('avif\0\0\0\0mif1')),
  box('mdat', Buffer.alloc(50, 7)),
]);
const webm = readFileSync(new URL('../../fixtures/media/blue.webm', import.meta.url));
const fragmented = await makeVideo('avc', { isFragmented: true });

const files: [string, Uint8Array, string][] = [
  ['a PNG', png([255, 0, 0]), 'image/png'],
  ['a JPEG', jpeg, 'image/jpeg'],
  ['a GIF', gif, 'image/gif'],
  ['a WebP', webp, 'image/webp'],
  ['an AVIF', avif, 'image/avif'],
  ['an MP4', await makeVideo('avc'), 'video/mp4'],
  ['a fragmented MP4', fragmented, 'video/mp4'],
  ['a WebM', webm, 'video/webm'],
];

async function judge(file: Uint8Array) {
  const { type, refusal } = await examine({
    head: file.subarray(0, headBytes),
    isWhole: file.length <= headBytes,
    source: { size: file.length, read: async (start, end) => file.slice(start, end) },
  });
  return type ?? refusal;
}

describe('the end of a file', () => {
  it.each(files)('accepts %s that is whole', async (_, file, type) => {
    expect(await judge(file)).toBe(type);
  });

  it.each(files)('refuses %s without its last bytes, with the reason', async (_, file) => {
    for (const missing of [1, Math.ceil(file.length / 4)])
      expect(await judge(file.subarray(0, file.length - missing))).toMatch(
        /^The end of this file is missing/,
      );
  });

  it.each([
    ['a photo with a video behind it', Buffer.concat([jpeg, Buffer.alloc(3_000_000, 7)])],
    ['a GIF with text behind it', Buffer.concat([gif, bytes('made by hand')])],
    ['a PNG with text behind it', Buffer.concat([png([1, 2, 3]), bytes('made by hand')])],
    ['an AVIF whose last box ends with the file', Buffer.concat([avif, box('free', webp, 0)])],
    ['an AVIF with a few zeros behind it', Buffer.concat([avif, Buffer.alloc(10)])],
    ['a photo whose end lies between two pieces', Buffer.concat([jpeg, Buffer.alloc(65_535, 7)])],
  ])('accepts %s', async (_, file) => {
    expect(await judge(file)).toMatch(/^image\//);
  });
});
