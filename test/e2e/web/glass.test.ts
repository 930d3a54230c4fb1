// The verdicts on pictures agree with what Chromium draws of them.
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  chromiumPath,
  needsChromium,
  openTvPage,
  type TvBrowser,
} from '../../support/browser/chromium.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { examined, mediaFixture, namesIn } from '../../support/service/media-fixtures.ts';

/** What runs in the page. Files are in Base64. */
const script = `
const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
window.frames = async (text, type) => {
  const decoder = new ImageDecoder({ data: bytesOf(text), type });
  let count = 0;
  try {
    await decoder.tracks.ready;
    await decoder.completed;
    for (; count < decoder.tracks.selectedTrack.frameCount; count++)
      await decoder.decode({ frameIndex: count, completeFramesOnly: true });
  } catch {}
  return count;
};
const pixels = async (text, type) => {
  const url = URL.createObjectURL(new Blob([bytesOf(text)], { type }));
  const image = new Image();
  try {
    await new Promise((resolve, reject) => Object.assign(image, { onload: resolve, onerror: reject, src: url }));
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext('2d');
    context.fillStyle = '#f0f';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
};
/** Keeps a whole picture. Returns whether it is drawn. */
let whole = null;
window.keep = async (text, type) => (whole = await pixels(text, type)) !== null;
/** Returns the share of pixels that differ from the whole picture, and the largest difference. */
window.differ = async (text, type) => {
  const cut = await pixels(text, type);
  if (cut?.length !== whole.length) return [1, 255];
  let count = 0;
  let most = 0;
  for (let at = 0; at < cut.length; at += 4) {
    const of = (part) => Math.abs(cut[at + part] - whole[at + part]);
    const largest = Math.max(of(0), of(1), of(2));
    if (largest > 32) count++;
    most = Math.max(most, largest);
  }
  return [(count * 4) / cut.length, most];
};
/** Draws a picture of shapes. Returns it in Base64. */
window.make = async (seed, type, quality) => {
  let state = seed;
  const random = (most) => ((state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff) * most;
  const canvas = new OffscreenCanvas(8 + random(200), 8 + random(200));
  const context = canvas.getContext('2d');
  for (let shape = 0; shape < random(60); shape++) {
    context.fillStyle = 'hsl(' + random(360) + ' 80% ' + random(100) + '%)';
    context.fillRect(random(200) - 40, random(200) - 40, random(120), random(120));
  }
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type, quality })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
};`;

let tv: TvBrowser;
beforeAll(async () => {
  if (chromiumPath) tv = await openTvPage({ initScript: script });
  // Only a page of a secure origin decodes frames.
  const { url } = await startLocally(createServer((_, response) => void response.end()));
  await tv?.page.goto(url);
});

const types: Readonly<Record<string, string>> = { jpg: 'image/jpeg' };
const typeOf = (name: string) => {
  const extension = name.split('.').at(-1) ?? '';
  return types[extension] ?? `image/${extension}`;
};
const inPage = <T>(name: string, ...words: (string | number)[]) =>
  tv.page.evaluate<T>(`${name}(${words.map((word) => JSON.stringify(word)).join(', ')})`);
const isRefused = async (file: Buffer) => {
  const { type, findings } = await examined(file);
  return type === undefined || findings.some(({ level }) => level === 'error');
};

/** Without its end marker, Chromium leaves out the last row of blocks of a JPEG, and rows above. */
const lastBlocks = 18;

describe.skipIf(!chromiumPath)(`what Chromium draws${needsChromium}`, () => {
  it.each(namesIn('pictures').filter((name) => !name.includes('animated')))(
    'of %s, cut at 50 places and near its end, agrees with the verdict',
    async (name) => {
      const file = mediaFixture(name);
      expect(await inPage('keep', file.toString('base64'), typeOf(name))).toBe(true);
      expect(await isRefused(file)).toBe(false);
      const cuts = Array.from({ length: 50 }, (_, at) => Math.floor((file.length * (at + 1)) / 51));
      for (const missing of [1, 2, 3, 4, 5, 8, 12, 16, 20, 40]) cuts.push(file.length - missing);
      for (const length of cuts) {
        const cut = file.subarray(0, length);
        const cut64 = cut.toString('base64');
        const [share, most] = await inPage<[number, number]>('differ', cut64, typeOf(name));
        const lacksEnd = name.endsWith('.jpg') && file.length - length <= 2;
        const what = `${length} of ${file.length}: ${share}, ${most}`;
        if (await isRefused(cut)) expect(most, what).toBeGreaterThan(0);
        else expect(share, what).toBeLessThanOrEqual(lacksEnd ? lastBlocks / 96 : 0);
      }
    },
    120_000,
  );

  it.each(['pictures/animated.gif', 'pictures/animated.webp'])(
    'of the frames of %s agrees with the verdict',
    async (name) => {
      const file = mediaFixture(name);
      const frames = (some: Buffer) =>
        inPage<number>('frames', some.toString('base64'), typeOf(name));
      expect(await frames(file)).toBe(4);
      for (let at = 1; at <= 50; at++) {
        const cut = file.subarray(0, Math.floor((file.length * at) / 51));
        expect(await isRefused(cut), `${cut.length}`).toBe((await frames(cut)) < 4);
      }
    },
  );

  it('of 300 healthy pictures is never refused', async () => {
    const endings: Record<string, (file: Buffer) => Buffer> = {
      whole: (file) => file,
      trailer: (file) => Buffer.concat([file, Buffer.alloc(999, 7)]),
      zeros: (file) => Buffer.concat([file, Buffer.alloc(999)]),
      endless: (file) => file.subarray(0, -2),
    };
    for (let at = 0; at < 300; at++) {
      const type = ['image/jpeg', 'image/jpeg', 'image/png', 'image/webp'][at % 4] ?? '';
      const ending = type === 'image/jpeg' ? Object.keys(endings)[(at >> 2) % 4] : 'whole';
      const made = await inPage<string>('make', at + 1, type, 0.3 + (at % 7) / 10);
      const file = endings[ending ?? '']?.(Buffer.from(made, 'base64')) ?? Buffer.alloc(0);
      expect(await isRefused(file), `${at}: ${type}, ${ending}`).toBe(false);
      expect(await inPage('keep', file.toString('base64'), type)).toBe(true);
    }
  }, 120_000);
});
