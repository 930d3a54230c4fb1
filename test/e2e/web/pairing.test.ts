// The pairing screen of the web player, in a real Chromium.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { playerKeyLink } from '../../../src/player/pairing/player-link.ts';
import { boxFaults } from '../../support/browser/box-faults.ts';
import {
  chromiumPath,
  needsChromium,
  openTvBrowser,
  openTvPage,
  type TvBrowser,
} from '../../support/browser/chromium.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { startService, type TestService } from '../../support/service/service.ts';

/** Keys of a remote control by their `keyCode`, which Playwright cannot press by name. */
const backOfWebOs = 461;
const backOfTizen = 10_009;

const pressRemoteKey = (page: Page, keyCode: number) =>
  page.evaluate(`{
    const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'keyCode', { value: ${keyCode} });
    document.dispatchEvent(event);
  }`);
const storedBinding = (page: Page) =>
  page.evaluate("localStorage.getItem('signage-player-binding')");

const shownCode = (page: Page) => page.locator('.code').innerText();
const typed = async (page: Page) => (await shownCode(page)).replaceAll(/[^A-Z0-9]/g, '');
const message = (page: Page) => page.locator('.message');

describe.skipIf(!chromiumPath)(`the pairing screen${needsChromium}`, () => {
  let service: TestService<Clock>;
  let browser: TvBrowser;
  let page: Page;

  const open = async (fragment = '') => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/player${fragment}`);
  };
  const boundDevices = async () => (await service.manage('GET', '/v1/devices')).body.items;

  beforeAll(async () => {
    service = await startService<Clock>({ clock: systemClock });
    browser = await openTvPage();
    page = browser.page;
  });

  it('moves with arrows, types with OK, and deletes with Back', async () => {
    await open();
    await expect.poll(() => message(page).innerText()).toBe('Type the pairing code of the screen.');
    // From A: right to B, down to K, and around the left edge to S.
    for (const key of ['ArrowRight', 'Enter', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    for (const key of ['ArrowLeft', 'ArrowLeft', 'Enter']) await page.keyboard.press(key);
    expect(await typed(page)).toBe('BKS');
    await pressRemoteKey(page, backOfWebOs);
    await pressRemoteKey(page, backOfTizen);
    expect(await typed(page)).toBe('B');
    await page.keyboard.type('7x');
    expect(await typed(page)).toBe('B7X');
    await page.locator('[data-key="Q"]').click();
    await page.locator('[data-key="delete"]').click();
    expect(await typed(page)).toBe('B7X');
    await page.keyboard.press('0');
    expect(await message(page).innerText()).toBe('Pairing codes have no 0.');
  });

  it('is used by Tab and Space: the selected key has the focus, and Space presses it', async () => {
    await open();
    await expect.poll(() => message(page).innerText()).toBe('Type the pairing code of the screen.');
    const selected = () => page.locator('.key.selected').getAttribute('data-key');
    const focused = () => page.evaluate("document.activeElement.getAttribute('data-key')");
    const both = async () => [await selected(), await focused()];
    expect(await both()).toEqual(['A', 'A']);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await both()).toEqual(['C', 'C']);
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    expect(await both()).toEqual(['M', 'M']);
    await page.keyboard.press('Space');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    expect(await typed(page)).toBe('CMK');
    // Between typed characters, Space separates, as a code may be printed.
    await page.keyboard.type('7 x');
    expect(await typed(page)).toBe('CMK7X');
  });

  it('shows what is wrong in another colour than the hint', async () => {
    await open();
    await expect.poll(() => message(page).innerText()).toBe('Type the pairing code of the screen.');
    const look = () => page.evaluate("getComputedStyle(document.querySelector('.message')).color");
    const hint = await look();
    await page.keyboard.press('0');
    expect(await look()).not.toBe(hint);
    await page.keyboard.type('abcd2345');
    await expect.poll(() => message(page).innerText()).toContain('There is no code ABCD-2345.');
    expect(await look()).not.toBe(hint);
    await page.keyboard.press('A');
    expect(await message(page).innerText()).toContain('There is no code ABCD-2345.');
  });

  it('says in words why a code is refused, and asks again', async () => {
    await open();
    await message(page).waitFor();
    await page.keyboard.type('abcd 23-45');
    await expect
      .poll(() => message(page).innerText())
      .toBe('There is no code ABCD-2345. Check it, and type it again.');
    expect(await typed(page)).toBe('');
  });

  it('takes a code that is pasted as it was printed', async () => {
    await open();
    await message(page).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const paste = async (text: string) => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await page.keyboard.press('Control+V');
    };
    await paste('ABCD-234');
    await expect
      .poll(() => message(page).innerText())
      .toBe('The pasted text is not a pairing code.');
    await paste(' abcd-2345\n');
    await expect
      .poll(() => message(page).innerText())
      .toBe('There is no code ABCD-2345. Check it, and type it again.');
  });

  it('pairs with the code of the URL, which leaves the address bar then', async () => {
    const { code, screenId } = await service.code();
    await open(`#${code}`);
    await expect
      .poll(async () => (await boundDevices()).map((one: { screenId: string }) => one.screenId))
      .toContain(screenId);
    await expect.poll(() => page.url()).toBe(`${service.url}/player`);
    await expect.poll(() => page.locator('#panel').isVisible()).toBe(false);
    expect(browser.problems).toEqual([]);
  });

  it('plays with the key of a link each time that its storage is gone, and never changes the key', async () => {
    const { code, screenId } = await service.code();
    const { body } = await service.register(code);
    const link = playerKeyLink(service.url, body);
    const query = `screenId=${screenId}&type=app_started`;
    const started = async () =>
      (await service.manage('GET', `/v1/events?${query}`)).body.items.length;
    for (let start = 0; start < 2; start++) {
      const tv = await openTvPage();
      await tv.page.goto(link);
      await expect.poll(() => storedBinding(tv.page)).toContain(body.apiKey);
      await expect.poll(() => tv.page.locator('#panel').isVisible()).toBe(false);
      expect(tv.page.url()).toBe(link);
      await expect.poll(started).toBe(start + 1);
      const device = await service.manage('GET', `/v1/devices/${body.deviceId}`);
      expect(device.body.lastSeq).toBeNull();
      await tv.close();
    }
    await service.manage('POST', `/v1/devices/${body.deviceId}/revoke`);
    const tv = await openTvPage();
    await tv.page.goto(link);
    await expect.poll(() => message(tv.page).innerText({ timeout: 1000 })).toContain('was removed');
    // The address of the open page, and then of a page with a key that was revoked meanwhile.
    for (const [index, where] of ['open', 'closed'].entries()) {
      const next = await service.register((await service.code(screenId)).code);
      if (where === 'closed') await tv.page.goto('about:blank');
      await tv.page.goto(playerKeyLink(service.url, next.body));
      await expect.poll(() => storedBinding(tv.page)).toContain(next.body.apiKey);
      await expect.poll(() => tv.page.locator('#panel').isVisible()).toBe(false);
      // The page loads itself anew with the key. Chromium may never close a page that does.
      await expect.poll(started).toBe(3 + index);
      if (where === 'closed') continue;
      await tv.page.goto('about:blank');
      await service.manage('POST', `/v1/devices/${next.body.deviceId}/revoke`);
    }
    await tv.close();
  });

  it('repeats a registration with the same key when the browser is closed before its answer', async () => {
    const proxy = await databaseProxy(`${service.url}/`);
    const { code, screenId } = await service.code();
    const tv = await openTvBrowser();
    await tv.page.goto(`${proxy.url}player`);
    await message(tv.page).waitFor();
    proxy.cutAfter('POST /devices/register');
    await tv.page.keyboard.type(code);
    const bound = async () =>
      (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body.items.length;
    await expect.poll(bound).toBe(1);
    await tv.close();
    const again = await openTvBrowser({ profile: tv.profile });
    await again.page.goto(`${proxy.url}player`);
    await expect.poll(() => again.page.locator('#panel').isVisible()).toBe(false);
    expect(await bound()).toBe(1);
    await expect.poll(() => storedBinding(again.page)).toContain(screenId);
  });

  it('counts down after too many wrong codes, and takes another one after Back', async () => {
    const guarded = await startService<Clock>({ clock: systemClock });
    const tv = await openTvPage();
    for (let i = 0; i < 10; i++) await guarded.register(`ABCD${String(i).padStart(4, '9')}`);
    await tv.page.goto(`${guarded.url}/player`);
    await message(tv.page).waitFor();
    await tv.page.keyboard.type('ZZZZ9999');
    await expect
      .poll(() => message(tv.page).innerText())
      .toMatch(
        /^Too many wrong codes came from this network\. Trying again in (60|59|58) seconds\.$/,
      );
    const before = await message(tv.page).innerText();
    expect(await boxFaults(tv.page, '#panel')).toEqual([]);
    await expect.poll(() => message(tv.page).innerText()).not.toBe(before);
    await pressRemoteKey(tv.page, backOfWebOs);
    await expect
      .poll(() => message(tv.page).innerText())
      .toBe('Type the pairing code of the screen.');
    await expect.poll(() => tv.page.locator('.claim').innerText()).toContain('--tv');
    await tv.page.keyboard.type('AB');
    expect(await typed(tv.page)).toBe('AB');
    await tv.close();
  });

  it('asks at the TV before it accepts an offer of a tenant that is new at its address', async () => {
    const guarded = await startService<Clock>({ clock: systemClock, trustProxy: ['127.0.0.1'] });
    const elsewhere = { headers: { 'x-forwarded-for': '198.51.100.4' } };
    const venue = await guarded.manage('POST', '/v1/venues', { name: 'Lobby' }, elsewhere);
    const place = { venueId: venue.body.id, name: 'Main' };
    const screen = await guarded.manage('POST', '/v1/screens', place, elsewhere);
    const tv = await openTvPage();
    await tv.page.goto(`${guarded.url}/player`);
    const question = tv.page.locator('.question-text');
    const claimOf = async () => (await tv.page.locator('.claim').innerText()).slice(-7);
    const offer = async (claim: string) => {
      const path = `/v1/devices/claims/${claim.replace('-', '')}/offer`;
      await guarded.manage('POST', path, { screenId: screen.body.id }, elsewhere);
      // A hidden question still has the text of the one before.
      await expect.poll(() => question.isVisible()).toBe(true);
      expect(await question.innerText()).toContain('Lobby/Main');
    };
    const bound = async () => (await storedBinding(tv.page)) ?? '';
    await expect.poll(claimOf).toMatch(/^\w{3}-\w{3}$/);
    const first = await claimOf();
    // A reload shows the same claim.
    await tv.page.reload();
    await expect.poll(claimOf).toBe(first);
    await tv.page.keyboard.type('AB');
    // OK is held down for a key of the keypad while the offer of a stranger appears.
    await tv.page.keyboard.down('Enter');
    await offer(first);
    const { tenantId } = venue.body;
    expect(await tv.page.locator('.question').innerText()).toContain(`Tenant ${tenantId}`);
    expect(await boxFaults(tv.page, '#panel')).toEqual([]);
    await tv.page.keyboard.down('Enter');
    expect(await question.isVisible()).toBe(true);
    expect(await tv.page.locator('.code').isVisible()).toBe(false);
    await tv.page.keyboard.up('Enter');
    // The next OK, which was meant for the keypad, accepts nothing.
    await tv.page.keyboard.press('Enter');
    await expect.poll(() => question.isVisible()).toBe(false);
    await expect.poll(claimOf).not.toBe(first);
    expect(await typed(tv.page)).toBe('ABA');
    const second = await claimOf();
    await offer(second);
    await tv.page.keyboard.press('ArrowRight');
    await pressRemoteKey(tv.page, backOfWebOs);
    await expect.poll(claimOf).not.toBe(second);
    expect(await bound()).not.toContain(screen.body.id);
    await offer(await claimOf());
    await tv.page.keyboard.press('ArrowRight');
    await tv.page.keyboard.press('Enter');
    await expect.poll(bound).toContain(screen.body.id);
    await tv.close();
  });
});
