// A TV that is identified and reloaded, in a real Chromium.
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { type MediaServer, png, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

describe.skipIf(!chromiumPath)(`the web player${needsChromium}`, () => {
  let media: MediaServer;
  beforeAll(async () => {
    media = await startMediaServer({ 'red.png': { type: 'image/png', bytes: png([255, 0, 0]) } });
  });

  /** A TV that shows a picture and has learned the first cursor. */
  async function playingTv(duration: number, config: object = {}): Promise<TvOnScreen> {
    const red = { creativeUrl: `${media.url}/red.png`, creativeType: 'image', duration };
    const tv = await startTvOnScreen({ items: [item(red)], config });
    await expect.poll(() => tv.colour()).toBe('255,0,0');
    const held = async () => {
      const { body } = await tv.service.manage('GET', `/v1/requests?screenId=${tv.screenId}`);
      return body.items.some(({ operation }: { operation: string }) =>
        operation.includes('Changes'),
      );
    };
    await expect.poll(held, { timeout: 10_000 }).toBe(true);
    return tv;
  }
  const post = (tv: TvOnScreen, path: string, more: object = {}) =>
    tv.service.manage('POST', `/v1/${path}`, { screenIds: [tv.screenId], ...more });

  it('draws venue, screen and device over the picture, says so, and counts no covered time', async () => {
    const tv = await playingTv(2, { player: { language: 'de' } });
    const startedMs = Date.now();
    const { body } = await post(tv, 'identify', { seconds: 6 });
    const overlay = tv.page.locator('#identity');
    await overlay.waitFor({ state: 'visible', timeout: 2000 });
    expect(Date.now() - startedMs).toBeLessThan(2000);
    const screen = (await tv.service.manage('GET', `/v1/screens/${tv.screenId}`)).body;
    const venue = (await tv.service.manage('GET', `/v1/venues/${screen.venueId}`)).body;
    const lines = (await overlay.innerText()).split(/\n+/);
    expect(lines).toEqual([venue.name, screen.name, `Gerät …${screen.deviceId.slice(-4)}`]);
    const events = () => tv.events('identified');
    await expect.poll(events).toMatchObject([{ identifyUntil: body.identifyUntil }]);
    await overlay.waitFor({ state: 'hidden', timeout: 8000 });
    expect(Date.now()).toBeGreaterThan(body.identifyUntil * 1000 - 1000);
    await expect.poll(() => tv.colour()).toBe('255,0,0');
    await tv.reload();
    await expect.poll(async () => (await tv.events('app_started')).length).toBe(2);
    const plays = (await tv.events('play')) as { duration: number }[];
    const seconds = plays.reduce((sum, { duration }) => sum + duration, 0);
    const elapsed = (Date.now() - startedMs) / 1000;
    // Of the time since then, about 6 seconds were covered.
    expect(seconds).toBeLessThan(elapsed - 3);
    expect(plays.some(({ duration }) => duration < 2)).toBe(true);
    await tv.browser.close();
  });

  it('loads itself anew, once, and its start names the reload', async () => {
    const tv = await playingTv(60);
    await tv.page.evaluate('window.isOld = true');
    const { reloadId } = (await post(tv, 'reload')).body;
    const isOld = () => tv.page.evaluate('window.isOld === true').catch(() => true);
    await expect.poll(isOld, { timeout: 10_000 }).toBe(false);
    await expect.poll(() => tv.colour()).toBe('255,0,0');
    const starts = async () => (await tv.events('app_started')).map((event) => event.reloadId);
    await expect.poll(starts).toEqual([undefined, reloadId]);
    // The first answer after the start has the same reload.
    await tv.page.evaluate('window.isOld = true');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await isOld()).toBe(true);
    const reasons = (await tv.events('log')).map(({ reason }) => reason).filter(Boolean);
    expect(reasons).toEqual(['cold', 'asked']);
    await tv.browser.close();
  });
});
