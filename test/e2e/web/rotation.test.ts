// Panels that hang upright: what the web player turns, in a real Chromium.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';
import { colourAt } from '../../support/browser/colour-at.ts';
import { type MediaServer, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startService } from '../../support/service/service.ts';
import { startTvOnScreen, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

const red = '255,0,0';
const lime = '0,255,0';
const black = '0,0,0';
const width = 1280;
const height = 720;
/** Points near the middle of each edge of the panel. */
const edges = {
  top: { x: width / 2, y: 40 },
  right: { x: width - 40, y: height / 2 },
  bottom: { x: width / 2, y: height - 40 },
  left: { x: 40, y: height / 2 },
};
type Edge = keyof typeof edges;

/** A picture of an upright panel: red, with a lime strip at its top. */
const upright = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 72 128"><path fill="red" d="M0 0h72v128H0z"/><path fill="lime" d="M0 0h72v20H0z"/></svg>`,
);
const page = Buffer.from(
  '<!doctype html><body style="margin:0;background:red"><div style="height:100px;background:lime"></div><script>document.title = innerWidth + "x" + innerHeight</script>',
);
const video = readFileSync(new URL('../../fixtures/media/blue.webm', import.meta.url));

describe.skipIf(!chromiumPath)(`a turned panel${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string, creativeType: string) =>
    item({ creativeUrl: `${media.url}/${name}`, creativeType, duration: 600 });
  const colours = async (tv: Pick<TvOnScreen, 'page'>) => {
    const found: Record<string, string> = {};
    for (const [edge, at] of Object.entries(edges)) found[edge] = await colourAt(tv.page, at);
    return found;
  };
  /** The colours of a picture whose top is at this edge of the panel. */
  const withTopAt = (edge: Edge) => ({
    ...{ top: red, right: red, bottom: red, left: red },
    [edge]: lime,
  });
  const set = (tv: TvOnScreen, player: object) =>
    tv.service.manage('PUT', `/v1/screens/${tv.screenId}/config`, { player });

  beforeAll(async () => {
    media = await startMediaServer({
      'upright.svg': { type: 'image/svg+xml', bytes: upright },
      'page.html': { type: 'text/html', bytes: page },
      'blue.webm': { type: 'video/webm', bytes: video },
    });
  });

  it('turns a picture clockwise by the degrees of the config, in its own format', async () => {
    const config = { player: { rotate: 90 } };
    const tv = await startTvOnScreen({
      items: [of('upright.svg', 'image')],
      config,
      width,
      height,
    });
    await expect.poll(() => colours(tv)).toEqual(withTopAt('right'));
    await set(tv, { rotate: 270 });
    await expect.poll(() => colours(tv)).toEqual(withTopAt('left'));
    // A panel upside down is wide: the tall picture has bars at its sides.
    await set(tv, { rotate: 180 });
    const bars = { left: black, right: black };
    await expect.poll(() => colours(tv)).toEqual({ ...withTopAt('bottom'), ...bars });
    await set(tv, { fit: 'cover' });
    await expect.poll(() => colours(tv)).toEqual({ ...withTopAt('top'), top: red });
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });

  it('turns pages, videos and the picture of an idle TV, each at the size of an upright panel', async () => {
    const config = { player: { rotate: 90, idle: `${media.url}/upright.svg` } };
    const tv = await startTvOnScreen({ items: [], config, width, height });
    await expect.poll(() => colours(tv)).toEqual(withTopAt('right'));
    await tv.publish([of('page.html', 'html')]);
    await expect.poll(() => tv.page.locator('iframe.visible').count()).toBe(1);
    await expect.poll(() => colours(tv)).toEqual(withTopAt('right'));
    const frame = tv.page.frames().find((one) => one.url().endsWith('/page.html'));
    expect(await frame?.title()).toBe(`${height}x${width}`);
    await tv.publish([of('blue.webm', 'video')]);
    await expect.poll(() => tv.colour()).toMatch(/^0,5\d,20\d$/);
    // 720 wide, and so 405 high, in the middle of an upright panel.
    const blue = expect.stringMatching(/^0,5\d,20\d$/);
    await expect
      .poll(() => colours(tv))
      .toEqual({ top: blue, bottom: blue, left: black, right: black });
    await tv.browser.close();
  });

  it('keeps the rotation of its URL until a config has another one', async () => {
    const service = await startService();
    const { page: tv, close } = await openTvPage();
    const turned = () => tv.evaluate("document.documentElement.getAttribute('data-rotate')");
    await tv.goto(`${service.url}/player#rotate=270`);
    await tv.locator('.message').waitFor();
    expect(await turned()).toBe('270');
    expect(tv.url()).toBe(`${service.url}/player`);
    await tv.goto('about:blank');
    await tv.goto(`${service.url}/player`);
    await tv.locator('.message').waitFor();
    expect(await turned()).toBe('270');
    const { code, screenId } = await service.code();
    await tv.evaluate(`location.hash = 'rotate=90&${code}'`);
    await expect.poll(() => tv.locator('#idle').isVisible()).toBe(true);
    expect(await turned()).toBe('90');
    const path = `/v1/screens/${screenId}/config`;
    await service.manage('PUT', path, { player: { rotate: 0 } });
    await expect.poll(turned).toBe('0');
    await service.manage('PUT', path, {});
    await expect.poll(turned).toBe('90');
    await close();
  });
});
