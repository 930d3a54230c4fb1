// Pictures with an orientation in their metadata, in a Chromium that turns them, and in one that
// does not, as before version 81.
import { describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';
import { colourAt } from '../../support/browser/colour-at.ts';
import { withOrientation } from '../../support/browser/exif.ts';
import { type MediaFile, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

const all = [1, 2, 3, 4, 5, 6, 7, 8];
const width = 1280;
const height = 720;
/** Four points in the middle, one of each quarter of the picture, and one at an edge. */
const points = [
  [-90, -90],
  [90, -90],
  [-90, 90],
  [90, 90],
  [-500, 10],
] as const;

/** A lying picture with a colour in each quarter, as Chromium writes it. */
async function makeJpeg(): Promise<Buffer> {
  const { page, close } = await openTvPage();
  const url = await page.evaluate(`(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [160, 90];
    const context = canvas.getContext('2d');
    for (const [at, colour] of ['red', 'lime', 'blue', 'white'].entries()) {
      context.fillStyle = colour;
      context.fillRect((at % 2) * 80, Math.floor(at / 2) * 45, 80, 45);
    }
    return canvas.toDataURL('image/jpeg', 1);
  })()`);
  await close();
  return Buffer.from(String(url).split(',')[1] ?? '', 'base64');
}

describe.skipIf(!chromiumPath)(`the orientation of pictures${needsChromium}`, () => {
  it.each([0, 90])(
    'is as in a browser that knows it, also if the browser does not: rotated by %d',
    async (rotate) => {
      const jpeg = await makeJpeg();
      const files = all.map((orientation): [string, MediaFile] => [
        `${orientation}.jpg`,
        { type: 'image/jpeg', bytes: withOrientation(jpeg, orientation) },
      ]);
      const media = await startMediaServer(Object.fromEntries(files));
      const first = item({
        creativeUrl: `${media.url}/1.jpg`,
        creativeType: 'image',
        duration: 600,
      });
      const start = (initScript: string) =>
        startTvOnScreen({
          items: [first],
          initScript,
          width,
          height,
          config: { player: { rotate } },
        });
      const colours = async (tv: TvOnScreen) => {
        const found: string[] = [];
        for (const [x, y] of points) {
          const colour = await colourAt(tv.page, { x: width / 2 + x, y: height / 2 + y });
          found.push(colour.replaceAll(/\d+/g, (one) => (Number(one) > 127 ? '1' : '0')));
        }
        return found;
      };
      const ignoreOrientation = `CSS.supports = () => false;
      document.addEventListener('DOMContentLoaded', () => {
        const [sheet] = document.styleSheets;
        sheet.insertRule('img { image-orientation: none }');
      });`;
      const tvs = [await start(''), await start(ignoreOrientation)];
      const seen = new Set<string>();
      for (const orientation of all) {
        const creativeUrl = `${media.url}/${orientation}.jpg`;
        const next = item({ creativeUrl, creativeType: 'image', duration: 600 });
        for (const tv of tvs) {
          const id = next.creativeId;
          await tv.publish([next]);
          const last = `localStorage.getItem('signage-player-binding').includes('${id}')`;
          await expect.poll(() => tv.page.evaluate(last)).toBe(true);
          await expect.poll(() => tv.page.locator('img.visible').count()).toBe(1);
        }
        const [known, unknown] = tvs as [TvOnScreen, TvOnScreen];
        await expect.poll(async () => seen.has((await colours(known)).join(' '))).toBe(false);
        const expected = await colours(known);
        seen.add(expected.join(' '));
        await expect.poll(() => colours(unknown)).toEqual(expected);
      }
      expect(seen.size).toBe(8);
      for (const tv of tvs) await tv.browser.close();
    },
  );
});
