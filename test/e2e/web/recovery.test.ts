// Old browsers, reloads and second tabs of the web player, in a real Chromium.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';
import { type MediaServer, png, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, storedRecords, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

/** Removes what Chromium 63 does not have. */
const chromium63 = `
  for (const [target, names] of [
    [window, ['AbortController', 'AbortSignal', 'queueMicrotask', 'structuredClone']],
    [Array.prototype, ['flat', 'flatMap', 'at', 'toSorted', 'toReversed', 'findLast', 'with']],
    [String.prototype, ['replaceAll', 'at', 'matchAll', 'trimEnd', 'trimStart']],
    [Object, ['fromEntries', 'hasOwn', 'groupBy']],
    [URL, ['canParse', 'parse']],
    [Promise, ['allSettled', 'any', 'withResolvers', 'try']],
    [HTMLImageElement.prototype, ['decode']],
    [HTMLVideoElement.prototype, ['requestVideoFrameCallback']],
    [navigator, ['storage', 'locks', 'wakeLock']],
    [Navigator.prototype, ['storage', 'locks', 'wakeLock']],
    [ReadableStream.prototype, [Symbol.asyncIterator, 'values']],
    [Crypto.prototype, ['randomUUID']],
  ])
    for (const name of names) delete target[name];
`;
const minuteMs = 60_000;

describe.skipIf(!chromiumPath)(`the web player${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string, creativeType: string, duration: number) =>
    item({ creativeUrl: `${media.url}/${name}`, creativeType, duration });
  const shows = (tv: TvOnScreen, colour: RegExp | string) =>
    expect.poll(() => tv.colour()).toMatch(colour);
  const reasons = async (tv: TvOnScreen) =>
    (await tv.events('log')).map(({ reason }) => reason).filter((reason) => reason !== undefined);

  beforeAll(async () => {
    const video = readFileSync(new URL('../../fixtures/media/blue.webm', import.meta.url));
    media = await startMediaServer({
      'red.png': { type: 'image/png', bytes: png([255, 0, 0]) },
      'noise.png': { type: 'image/png', bytes: Buffer.alloc(100, 7) },
      'blue.webm': { type: 'video/webm', bytes: video },
    });
  });

  it('runs without what browsers got after Chromium 63', async () => {
    const tv = await startTvOnScreen({
      items: [of('red.png', 'image', 1), of('blue.webm', 'video', 1)],
      initScript: chromium63,
    });
    await shows(tv, '255,0,0');
    await shows(tv, /^0,5\d,20\d$/);
    await shows(tv, '255,0,0');
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });

  it('says which browser it needs, and that it needs storage', async () => {
    const { service } = await startTvOnScreen({ items: [] });
    const old = await openTvPage({ initScript: 'delete window.fetch;' });
    await old.page.goto(`${service.url}/player`);
    await expect.poll(() => old.page.locator('body').innerText()).toContain('needs Chromium 63');
    await old.close();
    const refuse = "get() { throw new Error('Storage is off.'); }";
    const closed = await openTvPage({
      initScript: `Object.defineProperty(window, 'localStorage', { ${refuse} });`,
    });
    await closed.page.goto(`${service.url}/player`);
    await expect.poll(() => closed.page.locator('body').innerText()).toContain('Storage is off.');
    await closed.close();
  });

  it('waits before it starts again after several starts that showed nothing to its end', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png', 'image', 60)] });
    await shows(tv, '255,0,0');
    // As after five crashes.
    await tv.page.evaluate("localStorage.setItem('signage-player-unfinished-starts', '5')");
    await tv.reload();
    await shows(tv, '255,0,0');
    await tv.reload();
    await expect.poll(() => tv.page.locator('.message').innerText()).toContain('crashed');
    await tv.page.evaluate("localStorage.removeItem('signage-player-unfinished-starts')");
    await tv.reload();
    await shows(tv, '255,0,0');
    await tv.browser.close();
  });

  it('tries again when its script does not arrive', async () => {
    const { service } = await startTvOnScreen({ items: [] });
    const tv = await openTvPage();
    await tv.page.clock.install();
    const script = /\/player\/app\..*\.js$/;
    await tv.page.route(script, (route) => route.abort());
    await tv.page.goto(`${service.url}/player`);
    await expect.poll(() => tv.page.locator('#notice').innerText()).toContain('Trying again');
    await tv.page.unroute(script);
    await tv.page.clock.runFor(16_000);
    await expect.poll(() => tv.page.locator('.title').innerText()).toBe('Pair this TV');
    await tv.close();
  });

  it('reloads when nothing was shown for a minute, and then less and less often', async () => {
    const tv = await startTvOnScreen({ items: [of('noise.png', 'image', 1)] });
    await expect.poll(async () => (await tv.events('app_started')).length).toBe(1);
    await tv.page.clock.install();
    await tv.reload();
    await expect.poll(async () => (await reasons(tv)).length).toBe(2);
    // A browser that was suspended gets a minute, too.
    await tv.page.clock.fastForward(10 * minuteMs);
    await tv.page.clock.runFor(0.5 * minuteMs);
    expect(await reasons(tv)).toEqual(['cold', 'cold']);
    await tv.page.clock.runFor(0.7 * minuteMs);
    await expect.poll(() => reasons(tv)).toEqual(['cold', 'cold', 'watchdog']);
    await tv.page.clock.runFor(3 * minuteMs);
    expect((await reasons(tv)).length).toBe(3);
    await tv.page.clock.runFor(4 * minuteMs);
    await expect.poll(() => reasons(tv)).toEqual(['cold', 'cold', 'watchdog', 'watchdog']);
    await tv.browser.close();
  });

  it('loads itself anew between two items: a new build, after some hours, and for memory', async () => {
    const config = { player: { reloadHours: 1 } };
    const tv = await startTvOnScreen({ items: [of('red.png', 'image', 1)], config });
    await expect.poll(async () => (await reasons(tv)).length).toBe(1);
    await tv.page.clock.install();
    await tv.reload();
    await shows(tv, '255,0,0');
    await tv.page.route(/\/player$/, (route) =>
      route.request().isNavigationRequest()
        ? route.fallback()
        : route.fulfill({ body: '<script src="player/app.0123456789abcdef.js"></script>' }),
    );
    await tv.page.clock.fastForward(11 * minuteMs);
    await expect.poll(() => reasons(tv)).toContain('update');
    await tv.page.unroute(/\/player$/);
    await shows(tv, '255,0,0');
    await tv.page.clock.fastForward(61 * minuteMs);
    await expect.poll(() => reasons(tv)).toContain('age');
    await shows(tv, '255,0,0');
    await tv.page.evaluate(`Object.defineProperty(performance, 'memory', {
      value: { usedJSHeapSize: 9, jsHeapSizeLimit: 10 },
    })`);
    await tv.page.clock.fastForward(5 * minuteMs);
    expect(await reasons(tv)).not.toContain('memory');
    await tv.page.clock.fastForward(6 * minuteMs);
    await expect.poll(() => reasons(tv)).toContain('memory');
    await tv.browser.close();
  });

  it('writes to its database twice a minute for a watchdog outside the browser, also unpaired', async () => {
    const { service } = await startTvOnScreen({ items: [] });
    const tv = await openTvPage();
    await tv.page.clock.install();
    await tv.page.goto(`${service.url}/player`);
    await expect.poll(() => tv.page.locator('.title').innerText()).toBe('Pair this TV');
    for (let beats = 0; beats < 2; beats++) {
      const before = await storedRecords(tv, 'alive', 'getAll');
      await tv.page.clock.runFor(31_000);
      await expect.poll(() => storedRecords(tv, 'alive', 'getAll')).not.toEqual(before);
    }
    await tv.close();
  });

  it('stops when another tab of the browser shows the player', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png', 'image', 1)] });
    await shows(tv, '255,0,0');
    const second = await tv.browser.context.newPage();
    await second.goto(`${tv.service.url}/player`);
    await expect.poll(() => second.locator('img.visible').count()).toBeGreaterThan(0);
    await expect.poll(() => tv.page.locator('.message').innerText()).toContain('Another tab');
    expect(await tv.page.locator('img').count()).toBe(0);
    await tv.browser.close();
  });

  it('shows the pairing screen at once after a revoke', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png', 'image', 60)] });
    await shows(tv, '255,0,0');
    const { body } = await tv.service.manage('GET', `/v1/devices?screenId=${tv.screenId}`);
    await tv.service.manage('POST', `/v1/devices/${body.items[0].id}/revoke`, {});
    await expect.poll(() => tv.page.locator('.message').innerText()).toContain('was removed');
    expect(await tv.page.locator('img').count()).toBe(0);
    const { code } = await tv.service.code(tv.screenId);
    await tv.page.keyboard.type(code);
    await shows(tv, '255,0,0');
    await tv.browser.close();
  });
});
