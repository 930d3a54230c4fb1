import { expect, it } from 'vitest';
import { readVideo } from '../../../src/media/examination/video.ts';
import { makeVideo } from '../../cli/media/make-video.ts';
import { box, mp4Of, uint32, withEndlessRun } from '../../faults/examination/lying-videos.ts';

const zeros = Buffer.alloc(4);

const read = (bytes: Uint8Array) =>
  readVideo({ size: bytes.length, read: async (start, end) => bytes.slice(start, end) });

it.each(['avc', 'vp8'] as const)('reads the length of a video in %s', async (codec) => {
  expect(await read(await makeVideo(codec))).toEqual({ duration: 2.5, flaw: undefined });
});

it('reads no length of a fragmented video', async () => {
  expect(await read(await makeVideo('avc', { isFragmented: true }))).toEqual({
    duration: undefined,
    flaw: undefined,
  });
});

it.each([
  ['hevc', 'is encoded as HEVC'],
  ['avc 4:4:4', 'has a colour format'],
] as const)('warns about a video in %s', async (codec, start) => {
  const { duration, flaw } = await read(await makeVideo(codec));
  expect(duration).toBe(2.5);
  expect(flaw).toContain(start);
});

it('reads nothing from a file that is no video', async () => {
  expect(await read(Buffer.from('soup'))).toEqual({ duration: undefined, flaw: undefined });
});

/** Rows of a table, of which each is the same word. */
const rows = (count: number) => Buffer.alloc(count * 4, uint32(1));

it.each([
  ['a run of 4 billion frames', [box('ctts', zeros, uint32(1), uint32(0xffffffff), uint32(1))]],
  [
    'two hours of 60 frames a second',
    [
      box('stts', zeros, uint32(1), uint32(432_000), uint32(16)),
      box('ctts', zeros, uint32(432_000), rows(864_000)),
      box('stsz', zeros, uint32(0), uint32(432_000), rows(432_000)),
    ],
  ],
])('tells the length without a look at each frame: %s', async (_, tables) => {
  expect((await read(mp4Of(tables))).duration).toBe(2.5);
});

it('tells the length of a file whose fragment claims 4 billion frames', async () => {
  expect((await read(withEndlessRun())).duration).toBe(2.5);
});

it('tells the length wherever reads begin and end', async () => {
  const file = mp4Of([box('ctts', zeros, uint32(1), uint32(0xffffffff), uint32(1))]);
  const at = file.readUInt32BE(0);
  for (let shift = 0; shift < 500; shift++) {
    const free = box('free', Buffer.alloc(65_536 - shift));
    const moved = Buffer.concat([file.subarray(0, at), free, file.subarray(at)]);
    expect((await read(moved)).duration, `${shift}`).toBe(2.5);
  }
});
