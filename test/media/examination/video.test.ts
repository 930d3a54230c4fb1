import { expect, it } from 'vitest';
import { makeVideo } from '../../cli/media/make-video.ts';
import { box, mp4Of, uint32, withEndlessRun } from '../../faults/examination/lying-videos.ts';
import { examined } from '../../support/service/media-fixtures.ts';

const zeros = Buffer.alloc(4);

const durationOf = async (file: Uint8Array) => (await examined(file)).duration;

it.each(['avc', 'vp8'] as const)('reads the length of a video in %s', async (codec) => {
  expect(await durationOf(await makeVideo(codec))).toBe(2.5);
});

it('reads no length of a fragmented video', async () => {
  expect(await durationOf(await makeVideo('avc', { isFragmented: true }))).toBeUndefined();
});

it('reads nothing from a file that is no video', async () => {
  expect(await durationOf(Buffer.from('soup'))).toBeUndefined();
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
  expect(await durationOf(mp4Of(tables))).toBe(2.5);
});

it('tells the length of a file whose fragment claims 4 billion frames', async () => {
  expect(await durationOf(withEndlessRun())).toBe(2.5);
});

it('tells the length wherever reads begin and end', async () => {
  const file = mp4Of([box('ctts', zeros, uint32(1), uint32(0xffffffff), uint32(1))]);
  const at = file.readUInt32BE(0);
  for (let shift = 0; shift < 500; shift++) {
    const free = box('free', Buffer.alloc(65_536 - shift));
    const moved = Buffer.concat([file.subarray(0, at), free, file.subarray(at)]);
    expect(await durationOf(moved), `${shift}`).toBe(2.5);
  }
});
