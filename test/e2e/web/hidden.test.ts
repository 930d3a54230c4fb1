// The web player while its display is off, in a real Chromium.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { type HideableBrowser, openHideableBrowser } from '../../support/browser/hideable.ts';
import { type MediaServer, png, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, storedRecords, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

const green = new URL('../../fixtures/media/green.webm', import.meta.url);
/** Time within which a page plays after it is shown. */
const timeout = 5000;

describe.skipIf(!chromiumPath)(`a hidden web player${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string, creativeType: string) =>
    item({
      creativeUrl: `${media.url}/${name}`,
      creativeType,
      duration: 1,
      campaignId: crypto.randomUUID(),
    });
  beforeAll(async () => {
    media = await startMediaServer({
      'red.png': { type: 'image/png', bytes: png([255, 0, 0]) },
      'lime.png': { type: 'image/png', bytes: png([0, 255, 0]) },
      'green.webm': { type: 'video/webm', bytes: readFileSync(green) },
    });
  });

  async function startTv(items: object[]): Promise<TvOnScreen & { browser: HideableBrowser }> {
    const browser = await openHideableBrowser();
    return { ...(await startTvOnScreen({ items, browser })), browser };
  }
  const statusOf = async (tv: TvOnScreen) =>
    (await tv.service.manage('GET', '/v1/status')).body.items[0];
  const conditionOf = async (tv: TvOnScreen) => (await statusOf(tv)).condition;
  /** Ends of plays that were stored or sent. */
  const plays = async (tv: TvOnScreen) =>
    (await storedRecords(tv, 'events', 'getAll')).filter(({ type }) => type === 'impression');

  it('plays nothing while it is hidden or frozen, and then what was published meanwhile', async () => {
    const tv = await startTv([of('red.png', 'image'), of('green.webm', 'video')]);
    await expect.poll(async () => (await plays(tv)).length).toBeGreaterThan(1);
    await tv.browser.setHidden(true);
    await expect.poll(() => conditionOf(tv)).toBe('hidden');
    const before = (await plays(tv)).length;
    await tv.page.waitForTimeout(3000);
    expect((await plays(tv)).length).toBe(before);
    await tv.browser.setFrozen(true);
    await tv.publish([of('lime.png', 'image')]);
    await tv.page.waitForTimeout(2000);
    await tv.browser.setFrozen(false);
    expect((await plays(tv)).length).toBe(before);
    await tv.browser.setHidden(false);
    await expect.poll(() => tv.colour(), { timeout }).toBe('0,255,0');
    await expect.poll(() => conditionOf(tv), { timeout }).toBe('playing');
    expect(await tv.events('playback_error')).toEqual([]);
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });

  it('plays within 5 seconds, each of 50 times', async () => {
    const tv = await startTv([of('red.png', 'image'), of('green.webm', 'video')]);
    const shown = async () => (await tv.events('shown')).length;
    await expect.poll(shown).toBe(1);
    for (let time = 1; time <= 50; time++) {
      await tv.browser.setHidden(true);
      await tv.browser.setHidden(false);
      await expect.poll(shown, { timeout }).toBe(1 + time);
    }
    expect(await tv.events('playback_error')).toEqual([]);
    const heartbeats = await tv.events('heartbeat');
    expect(heartbeats.filter(({ hidden }) => hidden === true)).toHaveLength(50);
    await tv.browser.close();
  });

  it('ends the sound of a video, and starts again as a hidden page', async () => {
    const tv = await startTv([{ ...of('green.webm', 'video'), duration: 60 }]);
    const isPaused = () => tv.page.evaluate("document.querySelector('video.visible')?.paused");
    await expect.poll(isPaused).toBe(false);
    await tv.browser.setHidden(true);
    await expect.poll(isPaused).toBe(true);
    await tv.reload();
    await expect
      .poll(async () => (await tv.events('app_started')).map(({ hidden }) => hidden))
      .toEqual([undefined, true]);
    expect(await isPaused()).toBeUndefined();
    await tv.browser.setHidden(false);
    await expect.poll(isPaused, { timeout }).toBe(false);
    await tv.browser.close();
  });
});
