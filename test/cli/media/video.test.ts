import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readVideo } from '../../../src/cli/media/video.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { makeVideo } from './make-video.ts';

async function read(bytes: Uint8Array) {
  const path = join(await temporaryFolder(), 'video');
  await writeFile(path, bytes);
  return readVideo({ path });
}

it.each(['avc', 'vp8'] as const)('reads the length of a video in %s', async (codec) => {
  expect(await read(await makeVideo(codec))).toEqual({ duration: 2.5, fault: undefined });
});

it('reads no length of a fragmented video', async () => {
  expect(await read(await makeVideo('avc', { isFragmented: true }))).toEqual({
    duration: undefined,
    fault: undefined,
  });
});

it.each([
  ['hevc', 'is encoded as HEVC'],
  ['avc 4:4:4', 'has a colour format'],
] as const)('warns about a video in %s', async (codec, start) => {
  const { duration, fault } = await read(await makeVideo(codec));
  expect(duration).toBe(2.5);
  expect(fault).toContain(start);
});

it('reads nothing from a file that is no video', async () => {
  expect(await read(Buffer.from('soup'))).toEqual({ duration: undefined, fault: undefined });
});
