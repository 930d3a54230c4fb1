// Pictures of cameras in browsers before Chromium 81, which ignore the EXIF orientation.
import { expect, it } from 'vitest';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';
import { colourAt } from '../../support/browser/colour-at.ts';
import { startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen } from '../../support/tv/tv-on-screen.ts';

/** Makes today's Chromium ignore the orientation, and say so, as Chromium 63 to 80. */
const likeOldChromium = `
  const supports = CSS.supports.bind(CSS);
  CSS.supports = (name, value) => name !== 'image-orientation' && supports(name, value);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('img { image-orientation: none !important }');
  document.adoptedStyleSheets = [sheet];
`;

/**
 * The stored pixels of each orientation, as the columns of the matrix that makes them from the
 * upright picture (JEITA CP-3451).
 */
const storedBy: readonly (readonly number[])[] = [
  [1, 0, 0, 1],
  [-1, 0, 0, 1],
  [-1, 0, 0, -1],
  [1, 0, 0, -1],
  [0, 1, 1, 0],
  [0, -1, 1, 0],
  [0, -1, -1, 0],
  [0, 1, -1, 0],
];

/** Draws a picture with a red, a lime, a blue and a white quarter. Returns the stored JPEG. */
const draw = (matrix: readonly number[]) => `(() => {
  const [a, b, c, d] = ${JSON.stringify(matrix)};
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = a === 0 ? [90, 160] : [160, 90];
  const pen = canvas.getContext('2d');
  pen.setTransform(a, b, c, d, canvas.width / 2, canvas.height / 2);
  for (const [colour, x, y] of [['#f00', -80, -45], ['#0f0', 0, -45], ['#00f', -80, 0], ['#fff', 0, 0]]) {
    pen.fillStyle = colour;
    pen.fillRect(x, y, 80, 45);
  }
  return canvas.toDataURL('image/jpeg', 1).split(',')[1];
})()`;

/** Inserts a segment with the orientation behind the start of a JPEG. */
function oriented(jpeg: Buffer, orientation: number, isLittle: boolean): Buffer {
  const tiff = Buffer.alloc(26);
  const short = (value: number, at: number) =>
    isLittle ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    isLittle ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at);
  tiff.write(isLittle ? 'II' : 'MM');
  short(42, 2);
  long(8, 4);
  short(1, 8);
  short(0x0112, 10);
  short(3, 12);
  long(1, 14);
  short(orientation, 18);
  const head = Buffer.from([0xff, 0xe1, 0, 2 + 6 + tiff.length]);
  return Buffer.concat([
    jpeg.subarray(0, 2),
    head,
    Buffer.from('Exif\0\0'),
    tiff,
    jpeg.subarray(2),
  ]);
}

it.skipIf(!chromiumPath)(
  `the web player turns pictures of all eight orientations upright${needsChromium}`,
  async () => {
    const pen = await openTvPage();
    const pictures: Record<string, { type: string; bytes: Buffer }> = {};
    for (const [at, matrix] of storedBy.entries()) {
      const jpeg = Buffer.from((await pen.page.evaluate(draw(matrix))) as string, 'base64');
      const bytes = oriented(jpeg, at + 1, at % 2 === 0);
      pictures[`${at + 1}.jpg`] = { type: 'image/jpeg', bytes };
    }
    await pen.close();
    const media = await startMediaServer(pictures);
    const of = (name: string) =>
      item({ creativeUrl: `${media.url}/${name}`, creativeType: 'image', duration: 600 });
    const tv = await startTvOnScreen({
      items: [of('1.jpg')],
      config: { player: { fit: 'fill' } },
      initScript: likeOldChromium,
    });
    const corners = async () => {
      const { width, height } = tv.page.viewportSize()!;
      const found: string[] = [];
      for (const [x, y] of [
        [0.2, 0.2],
        [0.8, 0.2],
        [0.2, 0.8],
        [0.8, 0.8],
      ] as const)
        found.push(await colourAt(tv.page, { x: x * width, y: y * height }));
      // JPEG changes the colours a little.
      return found.map((one) => one.split(',').map((part) => Math.round(Number(part) / 255)));
    };
    for (const name of Object.keys(pictures)) {
      await tv.publish([of(name)]);
      const shown = "document.querySelector('img.visible')?.src";
      const before = await tv.page.evaluate(shown);
      if (name !== '1.jpg') await expect.poll(() => tv.page.evaluate(shown)).not.toBe(before);
      await expect
        .poll(async () => [name, ...(await corners())])
        .toEqual([name, [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]);
    }
  },
);
