// What is wrong with files: real ones of each kind, and ones made for the attack.
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { box } from '../../faults/examination/lying-videos.ts';
import {
  examined,
  findingsOf,
  mediaFixture,
  namesIn,
} from '../../support/service/media-fixtures.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const without = (file: Buffer, count: number) => file.subarray(0, file.length - count);
const uint32 = (value: number) => {
  const made = Buffer.alloc(4);
  made.writeUInt32BE(value);
  return made;
};
const chunk = (type: string, body: Uint8Array = Buffer.alloc(0)) =>
  Buffer.concat([uint32(body.length), bytes(type), body, Buffer.alloc(4)]);
const png = (width: number, height: number, ...chunks: Buffer[]) =>
  Buffer.concat([
    bytes('\x89PNG\r\n\x1a\n'),
    chunk('IHDR', Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])])),
    ...chunks,
  ]);
const rows = (width: number, height: number) =>
  chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height)));
const end = chunk('IEND');

/** What is found in the whole files of test/fixtures/media. Nothing in the others. */
const expected: Readonly<Record<string, string>> = {
  'pictures/animated.gif': 'warning animation',
  'pictures/animated.webp': 'warning animation',
  'pictures/cmyk.jpg': 'warning colours',
  'pictures/orientation-6.jpg': 'warning orientation',
  'videos/422.mp4': 'warning codec',
  'videos/av1.mp4': 'warning codec',
  'videos/hevc.mp4': 'warning codec',
  'videos/high10.mp4': 'warning codec',
  'videos/index-behind.mp4': 'warning moov',
  'videos/interlaced.mp4': 'warning interlaced',
  'videos/mjpeg.mp4': 'warning codec',
  'videos/mpeg2.mp4': 'warning codec',
  'videos/mpeg4.mp4': 'warning codec',
  'videos/rotated.mp4': 'warning rotation',
  'videos/sound.mp4': 'error sound',
  'videos/sound.webm': 'error sound',
  'videos/varying.mp4': 'warning frame-rate',
};

describe('a whole file', () => {
  it.each([...namesIn('pictures'), ...namesIn('videos')])(
    '%s has its own findings',
    async (name) => {
      expect(await findingsOf(mediaFixture(name))).toBe(expected[name] ?? '');
    },
  );

  it.each([
    ['hevc', 'HEVC'],
    ['high10', 'High 10'],
    ['422', '4:2:2'],
    ['mpeg2', 'MPEG-2'],
    ['mpeg4', 'MPEG-4 Part 2'],
    ['mjpeg', 'Motion JPEG'],
    ['av1', 'AV1'],
  ])('of %s names its codec, and the command that converts it', async (name, codec) => {
    const [finding] = (await examined(mediaFixture(`videos/${name}.mp4`))).findings;
    expect(finding?.detail).toContain(codec);
    expect(finding?.advice).toMatch(/ffmpeg -i IN .* OUT\.mp4$/);
  });

  const jpeg = mediaFixture('pictures/baseline.jpg');
  it.each<[string, Buffer, string]>([
    ['a JPEG with a video behind it', Buffer.concat([jpeg, Buffer.alloc(3_000_000, 7)]), ''],
    ['a JPEG with zeros behind it', Buffer.concat([jpeg, Buffer.alloc(5000)]), ''],
    [
      'a GIF with text behind it',
      Buffer.concat([mediaFixture('pictures/still.gif'), bytes('made by hand')]),
      '',
    ],
    [
      'a PNG with text behind it',
      Buffer.concat([png(1, 1, rows(1, 1), end), bytes('by hand')]),
      '',
    ],
    ['a JPEG without its end', without(jpeg, 2), 'warning end'],
    [
      'a JPEG with a video instead of its end',
      Buffer.concat([without(jpeg, 2), bytes('video')]),
      'warning end',
    ],
    [
      'a progressive JPEG without its end',
      without(mediaFixture('pictures/progressive.jpg'), 2),
      'warning end',
    ],
    [
      'a JPEG of mozjpeg without its end',
      without(mediaFixture('pictures/mozjpeg.jpg'), 2),
      'warning end',
    ],
    ['a PNG without IEND', png(9, 9, rows(9, 9)), 'warning end'],
    ['a GIF without its trailer', without(mediaFixture('pictures/still.gif'), 1), 'warning end'],
    [
      'a fragmented MP4 without its table of fragments',
      without(mediaFixture('videos/fragmented.mp4'), 9),
      'warning end',
    ],
    ['a WebM without its cues', without(mediaFixture('videos/vp8.webm'), 4), 'warning end'],
    [
      'an MP4 with zeros behind it',
      Buffer.concat([mediaFixture('videos/h264.mp4'), Buffer.alloc(99)]),
      '',
    ],
    ['a picture of 20 megapixels', png(5000, 4000, rows(5000, 4000), end), 'warning pixels'],
    ['a picture of 4200 pixels', png(4200, 9, rows(4200, 9), end), 'warning pixels'],
    ['a picture of 900 megapixels', png(30_000, 30_000, rows(9, 9), end), 'error pixels'],
  ])('%s', async (_, file, findings) => {
    expect(await findingsOf(file)).toBe(findings);
  });
});

describe('a file that is cut', () => {
  const names = [
    ...namesIn('pictures'),
    'videos/h264.mp4',
    'videos/index-behind.mp4',
    'videos/vp8.webm',
  ];
  it.each(names)('%s is refused at any place', async (name) => {
    const file = mediaFixture(name);
    // The last scan of a progressive JPEG adds hardly anything: see test/e2e/web/glass.test.ts.
    const last = name.includes('progressive') ? 0.6 : name.includes('vp8') ? 0.9 : 0.99;
    for (let at = 1; at <= 50; at++) {
      const cut = file.subarray(0, Math.floor((file.length * last * at) / 50));
      const found = await findingsOf(cut);
      expect(found, `${cut.length} of ${file.length}`).toMatch(
        /error truncated|none of the accepted|error moov|is empty/,
      );
    }
  });

  it.each(['baseline.jpg', 'mozjpeg.jpg', 'interlaced.png', 'still.gif'])(
    'and filled with zeros is refused: %s',
    async (name) => {
      const file = mediaFixture(`pictures/${name}`);
      const half = file.length >> 1;
      expect(
        await findingsOf(Buffer.concat([file.subarray(0, half), Buffer.alloc(half)])),
      ).toContain('error truncated');
    },
  );

  it('refuses a JPEG whose scan is short, although it has an end', async () => {
    const file = mediaFixture('pictures/baseline.jpg');
    expect(await findingsOf(Buffer.concat([without(file, 300), bytes('\xff\xd9')]))).toBe(
      'error truncated',
    );
  });

  it.each(['pictures/lossy.webp', 'videos/h264.mp4', 'videos/vp8.webm'])(
    'says how long %s should be',
    async (name) => {
      const file = mediaFixture(name);
      const [finding] = (await examined(without(file, 500))).findings;
      const size = (count: number) => count.toLocaleString('en');
      expect(finding?.detail).toContain(
        `${size(file.length - 500)} bytes of ${size(file.length)} bytes`,
      );
    },
  );
});

it('reads little of a video with an index of 12 MB', async () => {
  const file = mediaFixture('videos/h264.mp4');
  const start = file.readUInt32BE(0);
  const end = start + file.readUInt32BE(start);
  const moov = box('moov', file.subarray(start + 8, end), box('free', Buffer.alloc(12_000_000)));
  const long = Buffer.concat([file.subarray(0, start), moov, file.subarray(end)]);
  const { duration, findings, readBytes } = await examined(long);
  expect({ duration, findings }).toEqual({ duration: 1, findings: [] });
  expect(readBytes).toBeLessThan(100_000);
});

describe('a file made for the attack is refused after 1 MB', () => {
  const repeated = (part: Buffer, count: number) => Buffer.concat(Array(count).fill(part));
  const frame = bytes(',\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0');
  const ftyp = box('ftyp', bytes('isom\0\0\0\0isommp41'));
  const nested = (depth: number) => {
    const boxes = Array.from({ length: depth }, (_, at) =>
      Buffer.concat([uint32((depth - at) * 8), bytes('moov')]),
    );
    return Buffer.concat([ftyp, ...boxes]);
  };
  it.each<[string, Buffer]>([
    ['a million chunks', png(1, 1, repeated(chunk('tEXt'), 1_000_000))],
    [
      'a million segments',
      Buffer.concat([bytes('\xff\xd8'), repeated(bytes('\xff\xe1\0\x02'), 1_000_000)]),
    ],
    [
      'a million frames',
      Buffer.concat([
        bytes('GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0'),
        repeated(frame, 1_000_000),
      ]),
    ],
    ['a million tracks', Buffer.concat([ftyp, box('moov', repeated(box('trak'), 1_000_000))])],
    ['an index in an index in an index', nested(30_000)],
    ['a million boxes', Buffer.concat([ftyp, repeated(box('free'), 1_000_000)])],
    [
      'a header of 2 GB',
      Buffer.concat([ftyp, uint32(0x7fffffff), bytes('moov'), Buffer.alloc(5_000_000)]),
    ],
    ['a chunk of 2 GB', png(1, 1, Buffer.concat([uint32(0x7fffffff), bytes('IDAT')]))],
    [
      'a box that ends before it begins',
      Buffer.concat([ftyp, uint32(4), bytes('moov'), Buffer.alloc(99)]),
    ],
    ['pixels for 200 GB', png(400_000, 400_000, rows(9, 9), end)],
  ])('%s', async (_, file) => {
    const { findings, readBytes } = await examined(file);
    expect(findings.map(({ level }) => level)).toContain('error');
    expect(readBytes).toBeLessThanOrEqual(1024 * 1024);
  });
});
