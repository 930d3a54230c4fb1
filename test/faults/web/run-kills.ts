// Kills the browser of the web player again and again. Counts the plays it showed, and the stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TvBrowser } from '../../support/browser/chromium.ts';
import { storedRecords } from '../../support/tv/tv-on-screen.ts';
import { killBrowser, openPlayer } from './killed-browser.ts';
import { startProxiedTv, storedEvents } from './proxied-tv.ts';

const playSeconds = 1;
/** A play that has ended is durable after this time at most, in milliseconds. */
const savedWithinMs = 250;
/** Longest time until something is on the glass, in milliseconds. */
const startLimitMs = 15_000;

/** Reports to the test each layer that becomes visible, which is a play that begins. */
const reportShows = `
  new MutationObserver((records) => {
    for (const { target, oldValue } of records)
      if (target.classList.contains('visible') && !/\\bvisible\\b/.test(oldValue ?? ''))
        window.reportShow?.();
  }).observe(document, {
    subtree: true, attributes: true, attributeFilter: ['class'], attributeOldValue: true,
  });`;

export interface KillsResult {
  /** Plays that began on the glass. */
  shown: number;
  /** Stored plays. */
  stored: number;
  /** Kills so soon after a play that it may not have been durable yet. */
  early: number;
  /** Times from the start of the browser to the first play, in milliseconds. */
  startsMs: number[];
  /** Starts without the service that showed nothing until it was back. */
  dark: number;
  /** Starts that showed the pairing screen. */
  unpaired: number;
  missingEvents: number;
  conflictingEvents: number;
}

async function watchShows({ context }: TvBrowser, onShow: () => void): Promise<void> {
  await context.exposeBinding('reportShow', onShow);
  await context.addInitScript({ content: reportShows });
}

interface KillsOptions {
  /** Default: a new one. */
  profile?: string;
  /** Time between the first play and the first kill, in addition. Default: 0. */
  settleMs?: number;
  /** Ends the browser. Default: kills it. */
  crash?(browser: TvBrowser): Promise<void>;
}

/** Kills the browser this often. Every second start is without the service. */
export async function runKills(
  rounds: number,
  { profile, settleMs = 0, crash = killBrowser }: KillsOptions = {},
): Promise<KillsResult> {
  const { tv, items, proxy } = await startProxiedTv(playSeconds, {
    isEmpty: true,
    ...(profile !== undefined && { profile }),
  });
  const playerUrl = tv.page.url();
  const result = { shown: 0, startsMs: [] as number[], unpaired: 0, dark: 0, early: 0 };
  let shownAtMs = 0;
  const onShow = () => {
    result.shown++;
    shownAtMs = performance.now();
  };
  await watchShows(tv.browser, onShow);
  await tv.publish(items);
  await tv.reload();
  await tv.page.evaluate('navigator.serviceWorker.ready.then(() => true)');
  await expect.poll(() => tv.page.locator('img.visible').count()).toBeGreaterThan(0);
  await expect.poll(() => tv.page.evaluate('caches.keys().then((all) => all.length)')).toBe(1);
  let { browser } = tv;
  await sleep(settleMs);
  for (let round = 0; round < rounds; round++) {
    await sleep(5000 * Math.random());
    if (performance.now() - shownAtMs < savedWithinMs) result.early++;
    await crash(browser);
    if (round % 2 === 0) proxy.goAway();
    const startedAtMs = performance.now();
    browser = await openPlayer(playerUrl, { profile: browser.profile }, (opened) =>
      watchShows(opened, onShow),
    );
    const isShowing = () => browser.page.locator('img.visible').count();
    const isStarted = await expect
      .poll(isShowing, { timeout: startLimitMs, interval: 50 })
      .toBeGreaterThan(0)
      .then(() => true)
      .catch(() => false);
    if (isStarted) result.startsMs.push(performance.now() - startedAtMs);
    else result.dark++;
    if (await browser.page.locator('#panel').isVisible()) result.unpaired++;
    proxy.comeBack();
    if (!isStarted) await browser.page.goto(playerUrl);
    await expect.poll(isShowing, { timeout: 60_000 }).toBeGreaterThan(0);
  }
  // Without a playlist nothing more is played, and all events leave the queue.
  await tv.service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
  await browser.page.reload();
  await expect.poll(() => browser.page.locator('img.visible').count()).toBe(0);
  const unsent = async () => (await storedRecords(browser, 'events', 'getAllKeys')).length;
  const patience = { timeout: 90_000 };
  await expect.poll(unsent, patience).toBe(0);
  await expect
    .poll(
      async () => (await storedRecords(browser, 'head', 'getAllKeys')).includes('batch' as never),
      patience,
    )
    .toBe(false);
  await browser.close();
  const { events, missingEvents, conflictingEvents } = await storedEvents(tv);
  const stored = events.filter(({ type }) => type === 'impression').length;
  return { ...result, stored, missingEvents, conflictingEvents };
}

/** Checks the promises of docs/web-player.md. `lives` is the number of starts. */
export function expectKept(result: KillsResult, lives: number): void {
  const { shown, stored, early, startsMs, unpaired, dark } = result;
  const { missingEvents, conflictingEvents } = result;
  expect({ unpaired, missingEvents, conflictingEvents }).toEqual({
    unpaired: 0,
    missingEvents: 0,
    conflictingEvents: 0,
  });
  expect(Math.max(...startsMs)).toBeLessThan(startLimitMs);
  expect(stored).toBeLessThanOrEqual(shown);
  // The play on the glass is lost with each life, and one that has just ended may be. A dark start
  // has lost its queue.
  if (dark === 0) expect(stored).toBeGreaterThanOrEqual(shown - lives - early);
}
