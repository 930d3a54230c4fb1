// What the web player plays when, in a real Chromium.
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { type MediaServer, png, startMediaServer } from '../../support/network/media-server.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, storedRecords, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';
import { upcomingVectors } from '../../support/tv/upcoming-vectors.ts';

const red = '255,0,0';
const lime = '0,255,0';
const blue = '0,0,255';
const black = '0,0,0';

describe.skipIf(!chromiumPath)(`the web player with a schedule${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string) =>
    item({
      creativeUrl: `${media.url}/${name}.png`,
      creativeType: 'image',
      duration: 60,
      campaignId: crypto.randomUUID(),
    });
  const schedule = async (tv: TvOnScreen, entries: object[]) => {
    const path = `/v1/screens/${tv.screenId}/schedule`;
    expect((await tv.service.manage('PUT', path, { entries })).status).toBe(200);
  };
  const storedFiles = async (tv: TvOnScreen) =>
    (await storedRecords(tv, 'media', 'getAll')).filter(({ isComplete }) => isComplete).length;

  /** Waits until the middle of the screen has this colour. Returns the time, in epoch seconds. */
  async function since(tv: TvOnScreen, colour: string): Promise<number> {
    await expect.poll(() => tv.colour(), { timeout: 20_000, interval: 50 }).toBe(colour);
    return Date.now() / 1000;
  }

  beforeAll(async () => {
    const image = { type: 'image/png' };
    media = await startMediaServer({
      'red.png': { ...image, bytes: png([255, 0, 0]) },
      'lime.png': { ...image, bytes: png([0, 255, 0]) },
      'blue.png': { ...image, bytes: png([0, 0, 255]) },
    });
  });

  it('stores the files of upcoming entries, and switches without service and media host', async () => {
    let goAway = () => {};
    let comeBack = () => {};
    const tv = await startTvOnScreen({
      items: [of('red')],
      url: async (serviceUrl) => {
        const proxy = await databaseProxy(`${serviceUrl}/`);
        goAway = proxy.goAway;
        comeBack = proxy.comeBack;
        return proxy.url.replace(/\/$/, '');
      },
    });
    await since(tv, red);
    const now = Math.floor(Date.now() / 1000);
    const [limeAt, gapAt, blueAt] = [now + 7, now + 11, now + 13];
    await schedule(tv, [
      { name: 'lime', at: limeAt, until: gapAt, items: [of('lime')] },
      { name: 'blue', at: blueAt, until: blueAt + 600, items: [of('blue')] },
    ]);
    await tv.service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await expect.poll(() => storedFiles(tv)).toBe(3);
    goAway();
    media.isDown = true;
    const delays = [
      (await since(tv, lime)) - limeAt,
      (await since(tv, black)) - gapAt,
      (await since(tv, blue)) - blueAt,
    ];
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(2);
    comeBack();
    media.isDown = false;
    await tv.reload();
    const entryIds = async () => (await tv.events('impression')).map(({ entryId }) => entryId);
    await expect.poll(entryIds).toEqual(expect.arrayContaining([undefined, 'lime']));
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });

  it('downloads the file of an upcoming entry again if its host was away', async () => {
    // Lets the 5 minutes between two attempts pass in a moment.
    const initScript = `const { setInterval } = window;
      window.setInterval = (work, ms) => setInterval(work, ms === 300_000 ? 200 : ms);`;
    const tv = await startTvOnScreen({ items: [of('red')], initScript });
    await since(tv, red);
    const file = media.files.get('blue.png')!;
    media.files.set('blue.png', { ...file, status: 503 });
    const at = Math.floor(Date.now() / 1000) + 3600;
    await schedule(tv, [{ at, until: at + 60, items: [of('blue')] }]);
    const loads = () => media.requests.filter(({ name }) => name === 'blue.png').length;
    const before = loads();
    await expect.poll(loads).toBeGreaterThan(before);
    media.files.set('blue.png', file);
    // The answer of 503 may arrive after the first of these minutes.
    const minute = '{ const { now } = Date; Date.now = () => now() + 60_000; }';
    const stored = async () => {
      await tv.page.evaluate(minute);
      return storedFiles(tv);
    };
    await expect.poll(stored, { interval: 1000 }).toBe(2);
    await tv.browser.close();
  });

  it('shows the idle screen while nothing plays, and then the takeover, which ends by itself', async () => {
    const tv = await startTvOnScreen({ items: [] });
    const until = Math.floor(Date.now() / 1000) + 600;
    await schedule(tv, [{ at: until - 60, until, items: [of('lime')] }]);
    await expect
      .poll(() => tv.page.locator('.idle-status').textContent())
      .toBe('Nothing plays now.');
    const takeover = { items: [of('blue')], until: Math.floor(Date.now() / 1000) + 6 };
    const path = `/v1/screens/${tv.screenId}/takeover`;
    expect((await tv.service.manage('PUT', path, takeover)).status).toBe(200);
    await since(tv, blue);
    const delay = (await since(tv, black)) - takeover.until;
    expect(delay).toBeGreaterThanOrEqual(0);
    expect(delay).toBeLessThan(2);
    await tv.browser.close();
  });

  it('plays fixtures/upcoming', async () => {
    const colours: Record<string, [string, Buffer]> = {
      Base: [red, png([255, 0, 0])],
      Breakfast: [lime, png([0, 255, 0])],
      Lunch: [blue, png([0, 0, 255])],
      Takeover: ['255,0,255', png([255, 0, 255])],
    };
    const tv = await startTvOnScreen({ items: [of('red')] });
    // The first fetch must not get the version that is published below.
    await since(tv, red);
    const headers = { 'access-control-allow-origin': '*' };
    await tv.page.route('https://media.example.com/*', (route) => {
      const name = Object.keys(colours).find((one) =>
        route.request().url().includes(one.toLowerCase()),
      );
      const [, body] = colours[name ?? 'Base']!;
      return route.fulfill({ contentType: 'image/png', headers, body });
    });
    let answer = {};
    let fetches = 0;
    let date = '';
    await tv.page.route('**/devices/*/playlist', (route) => {
      fetches++;
      return route.fulfill({ json: answer, headers: { date, etag: `"${fetches}"` } });
    });
    const seen: string[] = [];
    const wanted: string[] = [];
    for (const { title, playlist, at, plays } of upcomingVectors)
      for (const [index, name] of plays.entries()) {
        answer = playlist;
        date = new Date((at[index] ?? 0) * 1000).toUTCString();
        const before = fetches;
        // The service tells the player of a version, and the answer above takes its place.
        await tv.publish([of('red')]);
        await expect.poll(() => fetches).toBeGreaterThan(before);
        const colour = name === null ? black : colours[name]![0];
        await expect.poll(() => tv.colour(), { interval: 50 }).toBe(colour);
        await new Promise((resolve) => setTimeout(resolve, 300));
        seen.push(`${title} ${index}: ${await tv.colour()}`);
        wanted.push(`${title} ${index}: ${colour}`);
      }
    expect(seen).toEqual(wanted);
    await tv.browser.close();
  }, 200_000);
});
