// The languages of the web player, in a real Chromium: what is written, and whether it fits.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { playerLanguages } from '../../../src/domain/records/config.ts';
import { boxFaults } from '../../support/browser/box-faults.ts';
import {
  chromiumPath,
  needsChromium,
  openTvBrowser,
  openTvPage,
  type TvBrowser,
} from '../../support/browser/chromium.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { item } from '../../support/service/content.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const inLanguage = (tag: string) =>
  `Object.defineProperty(navigator, 'language', { get: () => '${tag}' });`;
const titles: Record<string, string> = {
  de: 'Dieses Gerät koppeln',
  en: 'Pair this TV',
  es: 'Emparejar este dispositivo',
  fr: 'Associer cet appareil',
  it: 'Abbina questo dispositivo',
  pl: 'Sparuj to urządzenie',
  pt: 'Emparelhar este dispositivo',
};
const sizes = [
  { width: 390, height: 844 },
  { width: 1280, height: 720 },
  { width: 3840, height: 2160 },
];

describe.skipIf(!chromiumPath)(`the languages of the web player${needsChromium}`, () => {
  let service: TestService<Clock>;
  beforeAll(async () => {
    service = await startService<Clock>({ clock: systemClock });
  });

  const title = ({ page }: TvBrowser) => page.locator('.title').innerText();
  const lang = ({ page }: TvBrowser) => page.evaluate('document.documentElement.lang');

  /** Measures the boxes of a screen on each size, upright and turned. */
  async function faultsOf({ page }: TvBrowser, root: string, wait: string): Promise<string[]> {
    const found: string[] = [];
    for (const size of sizes)
      for (const degrees of [0, 90, 180, 270]) {
        await page.setViewportSize(size);
        await page.evaluate(`location.hash = 'rotate=${degrees}'`);
        const rotation = page.locator(`html[data-rotate="${degrees}"]`);
        await expect.poll(() => rotation.count()).toBe(1);
        await expect.poll(() => page.locator(wait).first().isVisible()).toBe(true);
        const faults = await boxFaults(page, root);
        found.push(...faults.map((fault) => `${size.width}, ${degrees}°: ${fault}`));
      }
    return found;
  }

  it.each([...playerLanguages])('%s: nothing of the pairing screen is cut', async (language) => {
    // A service of its own, because the wrong codes of an address are limited.
    const own = await startService<Clock>({ clock: systemClock });
    const tv = await openTvPage({ initScript: inLanguage(`${language}-XX`) });
    await tv.page.goto(`${own.url}/player`);
    await expect.poll(() => title(tv)).toBe(titles[language]);
    expect(await lang(tv)).toBe(language);
    await expect.poll(() => tv.page.locator('.claim').innerText()).toContain('--tv');
    await tv.page.keyboard.type('ABCD2345');
    await expect.poll(() => tv.page.locator('.message').innerText()).toContain('ABCD-2345');
    await expect.poll(() => tv.page.locator('.claim').innerText()).toContain('--tv');
    expect(await faultsOf(tv, '#panel', '.message.wrong')).toEqual([]);
    expect(tv.problems).toEqual([]);
    await tv.close();
  });

  it.each([...playerLanguages])(
    '%s: nothing of the idle screen is cut, with a name in Japanese and failing hosts',
    async (language) => {
      const { code, screenId } = await service.code();
      const { body: screen } = await service.manage('GET', `/v1/screens/${screenId}`);
      const name = `東京駅 八重洲口 ${language} コンコース案内`;
      await service.manage('PATCH', `/v1/venues/${screen.venueId}`, { name });
      await service.manage('PATCH', `/v1/screens/${screenId}`, {
        name: `${'中央改札口の大型ディスプレイ・'.repeat(8)}左`,
      });
      await service.manage('PUT', `/v1/screens/${screenId}/config`, { player: { language } });
      const tv = await openTvPage({ initScript: inLanguage('ja') });
      await tv.page.goto(`${service.url}/player#${code}`);
      await expect.poll(() => tv.page.locator('.idle-venue').innerText()).toBe(name);
      await expect.poll(() => lang(tv)).toBe(language);
      expect(await tv.page.locator('.idle-venue').getAttribute('lang')).toBe('ja');
      expect(await faultsOf(tv, '#idle', '.idle-status')).toEqual([]);
      const items = [1, 2, 3, 4, 5].map((n) =>
        item({ creativeUrl: `http://127.0.0.1:${n}/a.png`, creativeType: 'image', duration: 1 }),
      );
      await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
      await expect.poll(() => tv.page.locator('.idle-failure').count()).toBe(5);
      expect(await faultsOf(tv, '#idle', '.idle-failure')).toEqual([]);
      await tv.page.evaluate(
        "document.getElementById('idle').style.setProperty('--unit', '9vmin')",
      );
      expect(await boxFaults(tv.page, '#idle')).not.toEqual([]);
      await tv.close();
    },
  );

  it('keeps English in other languages, and changes what is on the screen with the config', async () => {
    const tv = await openTvPage({ initScript: inLanguage('ja-JP') });
    const { code, screenId } = await service.code();
    await tv.page.goto(`${service.url}/player#${code}`);
    const status = () => tv.page.locator('.idle-status').innerText();
    await expect.poll(status).toBe('Waiting for its first playlist');
    expect(await lang(tv)).toBe('en');
    await service.manage('PUT', `/v1/screens/${screenId}/config`, { player: { language: 'fr' } });
    await expect.poll(status).toBe('En attente de sa première playlist');
    expect(await lang(tv)).toBe('fr');
    await service.manage('PUT', `/v1/screens/${screenId}/config`, {});
    await expect.poll(status).toBe('Waiting for its first playlist');
    await tv.close();
  });

  it('stays in English while the service does not have the texts', async () => {
    const tv = await openTvPage({ initScript: inLanguage('de') });
    const { code, screenId } = await service.code();
    const problem = {
      status: 404,
      contentType: 'application/problem+json',
      body: '{"status":404}',
    };
    await tv.page.route('**/player/de.*.json', (route) => route.fulfill(problem));
    await tv.page.goto(`${service.url}/player#${code}`);
    const status = () => tv.page.locator('.idle-status').innerText();
    await expect.poll(status).toBe('Waiting for its first playlist');
    expect(await lang(tv)).toBe('en');
    await tv.page.unroute('**/player/de.*.json');
    await service.manage('PUT', `/v1/screens/${screenId}/config`, { volume: 1 });
    await expect.poll(status).toBe('Wartet auf die erste Playlist');
    await tv.close();
  });

  it('speaks its language without network, after the first visit', async () => {
    const proxy = await databaseProxy(`${service.url}/`);
    const tv = await openTvBrowser({ initScript: inLanguage('pl') });
    await tv.page.goto(`${proxy.url}player`);
    await expect.poll(() => title(tv)).toBe(titles.pl);
    const isReady = () => tv.page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    await expect.poll(isReady).toBe(true);
    await expect.poll(() => tv.page.evaluate('caches.keys().then((keys) => keys.length)')).toBe(1);
    proxy.goAway();
    await tv.close();
    const again = await openTvBrowser({ profile: tv.profile, initScript: inLanguage('it') });
    await again.page.goto(`${proxy.url}player`);
    await expect.poll(() => title(again)).toBe(titles.it);
    await again.close();
  });
});
