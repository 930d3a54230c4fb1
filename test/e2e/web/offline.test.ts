// The web player without its service, its media or its storage, in a real Chromium.
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium, openTvBrowser } from '../../support/browser/chromium.ts';
import { type MediaServer, png, startMediaServer } from '../../support/network/media-server.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, storedRecords, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

const megabyte = 1024 * 1024;
const playSeconds = 0.3;

/** An image of this size: decoders ignore what follows the end of a PNG. */
const largeImage = (bytes: number) => ({
  type: 'image/png',
  bytes: Buffer.concat([png([255, 0, 0]), Buffer.alloc(bytes)]),
});

describe.skipIf(!chromiumPath)(`the web player without network${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string, duration = playSeconds) =>
    item({
      creativeUrl: `${media.url}/${name}`,
      creativeType: 'image',
      duration,
      campaignId: crypto.randomUUID(),
    });
  const isStored = async (tv: Pick<TvOnScreen, 'page'>, name: string) => {
    const records = await storedRecords(tv, 'media', 'getAll');
    return records.some(({ url, isComplete }) => url === `${media.url}/${name}` && isComplete);
  };

  const changeRecord = (tv: Pick<TvOnScreen, 'page'>, name: string, change: string) =>
    tv.page.evaluate(`new Promise((resolve, reject) => {
      const opening = indexedDB.open('signage-player');
      opening.onerror = reject;
      opening.onsuccess = () => {
        const transaction = opening.result.transaction('media', 'readwrite');
        const media = transaction.objectStore('media');
        const reading = media.get('${media.url}/${name}');
        reading.onsuccess = () => {
          reading.result.${change};
          media.put(reading.result);
        };
        transaction.oncomplete = () => resolve(opening.result.close());
      };
    })`);

  beforeAll(async () => {
    media = await startMediaServer({
      'red.png': { type: 'image/png', bytes: png([255, 0, 0]) },
      'lime.png': { type: 'image/png', bytes: png([0, 255, 0]) },
      'large.png': { ...largeImage(9 * megabyte), cutAfter: 8.5 * megabyte },
      'strict.png': {
        ...largeImage(9 * megabyte),
        cutAfter: 8.5 * megabyte,
        withoutRanges: true,
      },
      'first.png': largeImage(9 * megabyte),
      'second.png': largeImage(9 * megabyte),
      'third.png': largeImage(9 * megabyte),
    });
  });

  it('starts without network, plays on, and reports each play once when the service is back', async () => {
    let goAway = () => {};
    let comeBack = () => {};
    const tv = await startTvOnScreen({
      items: [of('red.png'), of('lime.png')],
      keepsProfile: true,
      url: async (serviceUrl) => {
        const proxy = await databaseProxy(`${serviceUrl}/`);
        goAway = proxy.goAway;
        comeBack = proxy.comeBack;
        return proxy.url.replace(/\/$/, '');
      },
    });
    await expect.poll(() => isStored(tv, 'lime.png')).toBe(true);
    await expect
      .poll(() => tv.page.evaluate('navigator.serviceWorker.ready.then(() => true)'))
      .toBe(true);
    const url = tv.page.url();
    await expect.poll(() => tv.page.evaluate('caches.keys().then((keys) => keys.length)')).toBe(1);
    goAway();
    media.isDown = true;
    await tv.browser.close();

    const startedAtMs = performance.now();
    const again = await openTvBrowser({ profile: tv.browser.profile });
    await again.page.goto(url);
    await expect.poll(() => again.page.locator('img.visible').count()).toBeGreaterThan(0);
    expect(performance.now() - startedAtMs).toBeLessThan(15_000);
    await expect
      .poll(async () => (await storedRecords(again, 'events', 'getAllKeys')).length)
      .toBeGreaterThan(5);
    expect(again.problems).toEqual([]);

    comeBack();
    media.isDown = false;
    const queued = (await storedRecords(again, 'events', 'getAll')).filter(
      ({ type }) => type === 'impression',
    );
    await again.page.reload();
    const plays = () => tv.events('impression');
    await expect.poll(async () => (await plays()).length).toBeGreaterThanOrEqual(queued.length);
    // Items of less than a second: neighbours differ in their creative.
    const creatives = (await plays()).map(({ creativeId }) => creativeId);
    const repeated = creatives.filter((one, index) => index > 0 && one === creatives[index - 1]);
    // The plays before the restarts may have ended with either item.
    expect(repeated.length).toBeLessThanOrEqual(2);
    const times = (await plays()).map(({ timestamp }) => Number(timestamp));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    await again.close();
  });

  /** Interrupts the download of this file, and waits until it is stored after a reload. */
  async function interruptDownload(name: string): Promise<TvOnScreen> {
    const tv = await startTvOnScreen({ items: [of('red.png'), of(name)] });
    await expect
      .poll(async () => (await storedRecords(tv, 'media', 'getAll')).map(({ bytes }) => bytes))
      .toContainEqual(expect.toSatisfy((bytes: number) => bytes >= 8 * megabyte));
    await tv.reload();
    await expect.poll(() => isStored(tv, name)).toBe(true);
    return tv;
  }

  it('downloads a file from its beginning if its host does not allow ranges', async () => {
    await (await interruptDownload('strict.png')).browser.close();
  });

  it('continues an interrupted download where it ended', async () => {
    const tv = await interruptDownload('large.png');
    const ranges = media.requests.filter(({ name, range }) => name === 'large.png' && range);
    expect(ranges).not.toEqual([]);
    for (const { ifRange, range = '' } of ranges) {
      expect(ifRange).toBe('"1"');
      expect(Number(/\d+/.exec(range)?.[0])).toBeGreaterThanOrEqual(8 * megabyte);
    }
    // As a power cut after the last part leaves it.
    await changeRecord(tv, 'large.png', 'isComplete = false');
    await tv.reload();
    await expect.poll(() => isStored(tv, 'large.png')).toBe(true);
    await tv.browser.close();
  });

  it('downloads a file again that was stored before, but cannot be shown', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png', 1), of('lime.png')] });
    await expect.poll(() => isStored(tv, 'red.png')).toBe(true);
    const loads = () => media.requests.filter(({ name }) => name === 'red.png').length;
    const before = loads();
    // As a power cut may leave it: of the right length.
    await tv.page.evaluate(`new Promise((resolve, reject) => {
      const opening = indexedDB.open('signage-player');
      opening.onerror = reject;
      opening.onsuccess = () => {
        const transaction = opening.result.transaction('parts', 'readwrite');
        const parts = transaction.objectStore('parts');
        const reading = parts.openCursor(IDBKeyRange.bound(['${media.url}/red.png'], ['${media.url}/red.png', []]));
        reading.onsuccess = () => reading.result?.update(new Blob([new Uint8Array(reading.result.value.size)]));
        transaction.oncomplete = resolve;
      };
    })`);
    await tv.reload();
    await expect.poll(() => tv.colour()).toBe('255,0,0');
    // More often than once if the page noticed the damage before it was reloaded.
    const again = loads();
    expect(again).toBeGreaterThan(before);
    await tv.reload();
    await expect.poll(() => tv.colour()).toBe('255,0,0');
    expect(loads()).toBe(again);
    await tv.browser.close();
  });

  it('stays paired and plays when the browser deletes its databases, also without the service', async () => {
    let proxy: Awaited<ReturnType<typeof databaseProxy>> | undefined;
    const tv = await startTvOnScreen({
      items: [of('red.png')],
      url: async (serviceUrl) => {
        proxy = await databaseProxy(`${serviceUrl}/`);
        return proxy.url.replace(/\/$/, '');
      },
    });
    await expect.poll(() => isStored(tv, 'red.png')).toBe(true);
    await expect.poll(() => tv.page.evaluate('caches.keys().then((keys) => keys.length)')).toBe(1);
    const url = tv.page.url();
    const state = 'navigator.serviceWorker.controller?.state';
    await expect.poll(() => tv.page.evaluate(state)).toBe('activated');
    const session = await tv.browser.context.newCDPSession(tv.page);
    const { origin } = new URL(url);
    await tv.page.goto(`${origin}/player/icon-80.png`);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
    await expect.poll(() => tv.page.evaluate('indexedDB.databases()')).toEqual([]);
    proxy?.goAway();
    await tv.page.goto(url);
    await expect.poll(() => tv.page.locator('img.visible').count()).toBeGreaterThan(0);
    expect(await tv.page.locator('#panel').isVisible()).toBe(false);
    expect(await storedRecords(tv, 'head', 'getAllKeys')).toContain('binding');
    await tv.browser.close();
  });

  it('plays on when the storage quota is used up', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png')] });
    const session = await tv.browser.context.newCDPSession(tv.page);
    await session.send('Storage.overrideQuotaForOrigin', {
      origin: tv.service.url,
      quotaSize: 20 * megabyte,
    });
    const items = [of('first.png'), of('second.png'), of('lime.png')];
    await tv.publish(items);
    const shownIds = async () =>
      (await storedRecords(tv, 'events', 'getAll')).map(({ creativeId }) => creativeId);
    await expect
      .poll(shownIds)
      .toEqual(expect.arrayContaining(items.map(({ creativeId }) => creativeId)));
    expect((await tv.events('app_started')).length).toBe(1);
    await tv.browser.close();
  });

  it('evicts the least recently used files beyond the size of the config', async () => {
    const tv = await startTvOnScreen({
      items: [of('first.png')],
      config: { cachePolicy: { maxSizeGB: 0.012 } },
    });
    await expect.poll(() => isStored(tv, 'first.png')).toBe(true);
    await tv.publish([of('second.png'), of('third.png')]);
    const isSecondStored = () => isStored(tv, 'second.png');
    await expect.poll(async () => (await isSecondStored()) || isStored(tv, 'third.png')).toBe(true);
    expect(await isStored(tv, 'first.png')).toBe(false);
    // The file that the host sends later does not fit. It is shown from its URL, and requested for
    // the store once only.
    const late = (await isSecondStored()) ? 'third.png' : 'second.png';
    const loads = (isDownload: boolean) =>
      media.requests.filter((one) => one.name === late && one.isDownload === isDownload);
    await expect.poll(() => loads(false).length).toBeGreaterThan(0);
    expect(loads(true)).toHaveLength(1);
    await tv.browser.close();
  });
});
