// The web player in a real Chromium with software rendering: how soon it shows a change, and the
// gaps between items.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { playerKeyLink } from '../../src/player/pairing/player-link.ts';
import { chromiumPath, needsChromium, openTvBrowser } from '../support/browser/chromium.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { png, startMediaServer } from '../support/network/media-server.ts';
import { startProgram } from '../support/process/program.ts';
import { item } from '../support/service/content.ts';
import { startTvOnScreen } from '../support/tv/tv-on-screen.ts';
import { type BoundTv, fillWithFleet } from './fleet/fleet.ts';
import { median, share } from './measure.ts';
import { startServed } from './served.ts';

const token = `mak_${'PaintTheGlass'.repeat(3)}`;
const others = 999;
const publications = 200;
const changes = 500;

/** Reports when a layer that became visible is painted, in epoch milliseconds. */
const reportPaints = `
  new MutationObserver((records) => {
    for (const { target, oldValue } of records)
      if (target.classList.contains('visible') && !/\\bvisible\\b/.test(oldValue ?? ''))
        requestAnimationFrame(() => requestAnimationFrame(() => window.reportPaint?.(Date.now())));
  }).observe(document, {
    subtree: true, attributes: true, attributeFilter: ['class'], attributeOldValue: true,
  });`;

/** Collects for each change of the item how long no layer was visible in painted frames. */
const watchGaps = `
  window.gapsMs = [];
  let last = performance.now();
  let shown;
  const look = () => {
    const now = performance.now();
    const visible = document.querySelector('.layer.visible');
    if (visible && visible.getAttribute('src') !== shown) {
      if (shown !== undefined) window.gapsMs.push(now - last);
      shown = visible.getAttribute('src');
    }
    if (visible) last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

describe.skipIf(!chromiumPath)(`the web player${needsChromium}`, () => {
  it('time from a publication to its first frame on the glass', async () => {
    const data = await temporaryFolder();
    const [own, ...fleet] = (await fillWithFleet(data, others + 1)) as [BoundTv, ...BoundTv[]];
    const served = await startServed(data, token);
    const players = await startProgram(new URL('players.js', import.meta.url));
    await players.ask({ url: served.url, tvs: fleet });
    const colours = Array.from({ length: publications + 1 }, (_, n) => [n, 255 - n, 128] as const);
    const media = await startMediaServer(
      Object.fromEntries(
        colours.map((colour, n) => [
          `${n}.png`,
          { type: 'image/png', bytes: png(colour, 1280, 720) },
        ]),
      ),
    );
    const management = new ManagementClient({ url: served.url, token });
    const publish = (n: number) => {
      const creative = { creativeUrl: `${media.url}/${n}.png`, creativeType: 'image' };
      return management.call('publishPlaylist', {
        params: { id: own.screenId },
        body: { items: [item({ ...creative, duration: 600 })] },
      } as never);
    };
    await publish(publications);
    const browser = await openTvBrowser();
    const paintedAtMs: number[] = [];
    await browser.context.exposeBinding('reportPaint', (_, atMs: number) => {
      paintedAtMs.push(atMs);
    });
    await browser.context.addInitScript({ content: reportPaints });
    await browser.page.goto(playerKeyLink(served.url, own));
    await expect.poll(() => paintedAtMs.length).toBe(1);
    await sleep(5000);
    const times: number[] = [];
    for (let n = 0; n < publications; n++) {
      const startMs = Date.now();
      await publish(n);
      await expect.poll(() => paintedAtMs.length, { interval: 10 }).toBe(n + 2);
      times.push((paintedAtMs.at(-1) ?? Number.NaN) - startMs);
      await sleep(500 * Math.random());
    }
    console.log(
      `${publications} publications beside ${others} simulated TVs, from the request to the frame: median ${median(times)}, p99 ${share(times, 0.99)}, at most ${Math.max(...times)} ms (bar: p99 2,000)`,
    );
    await browser.close();
    await players.stop();
    await served.stop();
  });

  it.each([
    ['images', 0.4, 80],
    ['videos', 1, 200],
  ] as const)('gaps between %s', async (kind, duration, bar) => {
    const video = (name: string) =>
      readFileSync(new URL(`../fixtures/media/${name}`, import.meta.url));
    const media = await startMediaServer({
      'red.png': { type: 'image/png', bytes: png([255, 0, 0], 1280, 720) },
      'lime.png': { type: 'image/png', bytes: png([0, 255, 0], 1280, 720) },
      'blue.webm': { type: 'video/webm', bytes: video('blue.webm') },
      'green.webm': { type: 'video/webm', bytes: video('green.webm') },
    });
    const names = kind === 'images' ? ['red.png', 'lime.png'] : ['blue.webm', 'green.webm'];
    const creativeType = kind === 'images' ? 'image' : 'video';
    const items = names.map((name) =>
      item({ creativeUrl: `${media.url}/${name}`, creativeType, duration }),
    );
    const tv = await startTvOnScreen({ items, keepsProfile: true });
    await expect.poll(() => tv.page.locator('.layer.visible').count()).toBeGreaterThan(0);
    await tv.page.evaluate(watchGaps);
    const gaps = () => tv.page.evaluate<number[]>('window.gapsMs');
    await expect
      .poll(async () => (await gaps()).length, { timeout: changes * 5000, interval: 1000 })
      .toBeGreaterThan(changes);
    const times = await gaps();
    console.log(
      `${times.length} changes of ${kind}, from the last frame of an item to the first of the next: median ${median(times).toFixed(0)}, p99 ${share(times, 0.99).toFixed(0)}, at most ${Math.max(...times).toFixed(0)} ms (bar: p99 ${bar})`,
    );
    await tv.browser.close();
  });
});
