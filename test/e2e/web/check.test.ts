// The page that tests a panel, /player#check, in a real Chromium.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  chromiumPath,
  needsChromium,
  openTvBrowser,
  openTvPage,
} from '../../support/browser/chromium.ts';
import { startService } from '../../support/service/service.ts';
import { startTvOnScreen, storedRecords } from '../../support/tv/tv-on-screen.ts';

/** Texts and pictures that are cut off at the sides, or that overlap. */
const faultsOfLayout = `(() => {
  const shown = [...document.querySelectorAll('.check h1, .check p, .check dt, .check dd, .check figcaption, .check .picture, .check button')];
  const boxes = shown
    .map((element) => ({ name: element.textContent || element.className, ...element.getBoundingClientRect().toJSON() }))
    .filter(({ width, height }) => width > 0 && height > 0);
  const cut = boxes.filter(({ left, right }) => left < 0 || right > innerWidth).map(({ name }) => 'cut: ' + name);
  const overlapping = boxes.flatMap((one, place) => boxes.slice(place + 1)
    .filter((other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1)
    .map((other) => one.name + ' / ' + other.name));
  const clipped = shown.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).map(({ textContent }) => 'clipped: ' + textContent);
  return [...cut, ...overlapping, ...clipped];
})()`;

const lineOf = (page: Page) => page.locator('.check .line').textContent();
const isAsked = (page: Page) => expect.poll(() => page.locator('.check .ask').count()).toBe(1);

describe.skipIf(!chromiumPath)(`/player#check${needsChromium}`, () => {
  it.each([
    [390, 844],
    [1280, 720],
    [1280, 1024],
    [1080, 1920],
    [3840, 2160],
  ])('tries what the browser does, readably on %d × %d', async (width, height) => {
    const service = await startService();
    const { page, problems } = await openTvPage({ width, height });
    await page.goto(`${service.url}/player#check`);
    await isAsked(page);
    const words = new Map(
      [...(await lineOf(page))!.matchAll(/(\S+?)=("[^"]*"|\S+)/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    expect(Object.fromEntries(words)).toEqual({
      engine: expect.stringMatching(/^Chromium\/\d+$/),
      build: expect.stringMatching(/^[0-9a-f]{16}$/),
      page: `${width}x${height}@1`,
      h264: expect.stringMatching(/^(?:yes|no)$/),
      hevc: expect.stringMatching(/^(?:yes|no)$/),
      vp9: 'yes',
      av1: 'yes',
      turnsPictures: 'yes',
      isolatesPages: 'yes',
      storage: 'first',
      since: expect.stringMatching(/Z$/),
      quota: expect.stringMatching(/^\d+$/),
      time: expect.stringMatching(/Z$/),
      clock: expect.stringMatching(/^-?\d+\.\ds\+-\d\.\ds$/),
      sound: 'yes',
      rtt: expect.stringMatching(/^\d+ms$/),
      turned: 'unanswered',
      ua: expect.stringContaining('Mozilla'),
    });
    await expect.poll(() => page.evaluate('document.fonts.status')).toBe('loaded');
    expect(await page.evaluate(faultsOfLayout)).toEqual([]);
    if (width > 600)
      expect(
        await page.evaluate("document.querySelector('.check').scrollHeight <= innerHeight"),
      ).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
    await service.close();
  });

  it('keeps the answer about the turned clip, and the player reports it at its next start', async () => {
    const tv = await startTvOnScreen({ items: [] });
    const { page } = tv;
    await page.goto(`${tv.service.url}/player#check`);
    await isAsked(page);
    expect(await page.evaluate("document.querySelector('.check video').paused")).toBe(false);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const answered = () => page.locator('.check .answered').textContent();
    expect(await answered()).toBe('Answer kept: Yes');
    expect(await lineOf(page)).toContain('turned=yes');
    await page.reload();
    await isAsked(page);
    expect(await answered()).toBe('Answer kept: Yes');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    expect(await answered()).toBe('Answer kept: No, or black');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Backspace')]);
    expect(page.url()).toBe(`${tv.service.url}/player`);
    const made = async () =>
      [...(await storedRecords(tv, 'events', 'getAll')), ...(await tv.events('player_report'))].map(
        ({ turnsVideos }) => turnsVideos,
      );
    await expect.poll(made).toContain(false);
    await page.reload();
    const report = async () => (await tv.events('player_report')).at(-1);
    await expect.poll(report).toMatchObject({
      turnsVideos: false,
      turnsPictures: true,
      isolatesPages: true,
      sound: true,
      plays: expect.arrayContaining(['vp9', 'av1']),
      checkedAt: expect.any(Number),
    });
    await tv.browser.close();
  });

  it('says how long the network lets a request for changes be held', async () => {
    const tv = await startTvOnScreen({ items: [] });
    const { page } = tv;
    await page.goto('about:blank');
    // The frame that tries the isolation blocks its thread by the clock, and must be gone before.
    const isTried = page.waitForEvent('framedetached');
    // The first wait is held, the second is cut off.
    await page.route('**/changes*', async (route) => {
      const wait = Number(/waitSeconds=(\d+)/.exec(route.request().url())?.[1] ?? 0);
      await isTried;
      await (wait === 0 ? page.clock.install() : page.clock.fastForward(1000 * wait));
      await (wait > 100
        ? route.abort()
        : route.fulfill({ json: { cursor: 'c', playlist: null, config: { etag: 'e' } } }));
    });
    await page.goto(`${tv.service.url}/player#check`);
    await expect.poll(() => lineOf(page)).toMatch(/ hold=5\ds cut=1[23]\ds /);
    await tv.browser.close();
  });

  it('says what the browser refuses: sound without a click, isolation', async () => {
    const service = await startService();
    const { page, close } = await openTvBrowser({
      args: [
        '--autoplay-policy=document-user-activation-required',
        '--disable-features=IsolateSandboxedIframes',
      ],
    });
    // Playwright evaluates scripts as if somebody had clicked.
    const isTried = page.waitForEvent('framedetached');
    await page.goto(`${service.url}/player#check`);
    await isTried;
    await isAsked(page);
    expect(await lineOf(page)).toMatch(/ isolatesPages=no .* sound=no /);
    await close();
    await service.close();
  });

  it('does not mistake a page that is busy itself for one that a frame has frozen', async () => {
    const service = await startService();
    const { page, close } = await openTvPage({
      initScript: `let isFirst = true;
        addEventListener('message', () => {
          if (!isFirst || parent !== window) return;
          isFirst = false;
          const untilMs = performance.now() + 1000;
          while (performance.now() < untilMs);
        });`,
    });
    await page.goto(`${service.url}/player#check`);
    await isAsked(page);
    expect(await lineOf(page)).toMatch(/ isolatesPages=yes /);
    await close();
    await service.close();
  });

  it('says whether storage was kept over a restart, and runs without the service', async () => {
    const service = await startService();
    const open = async (profile?: string) => {
      const browser = await openTvBrowser(profile === undefined ? {} : { profile });
      await browser.page.goto(`${service.url}/player#check`);
      await isAsked(browser.page);
      return browser;
    };
    const first = await open();
    expect(await lineOf(first.page)).toMatch(/ storage=first /);
    await first.page.reload();
    await isAsked(first.page);
    expect(await lineOf(first.page)).toMatch(/ storage=same /);
    await Promise.all([first.page.waitForEvent('load'), first.page.keyboard.press('Backspace')]);
    const isControlled = () => first.page.evaluate('navigator.serviceWorker.controller !== null');
    await expect.poll(isControlled).toBe(true);
    await first.close();
    const again = await open(first.profile);
    expect(await lineOf(again.page)).toMatch(/ storage=kept /);
    await again.page.evaluate("indexedDB.deleteDatabase('signage-player-check-visit')");
    await service.close();
    await again.page.reload();
    await isAsked(again.page);
    expect(await lineOf(again.page)).toMatch(/ storage=lost .* rtt=none /);
    await again.close();
    // It starts four pages, each of which tries four videos.
  }, 120_000);

  it('opens from the player by its address', async () => {
    const tv = await startTvOnScreen({ items: [] });
    await tv.page.evaluate("location.hash = 'check'");
    await isAsked(tv.page);
    await tv.browser.close();
  });
});
