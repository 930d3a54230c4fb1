// Links and shared tickets in the web player (docs/protocol.md §3.7), in a real Chromium.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { playerTicketLink } from '../../../src/player/pairing/ticket-link.ts';
import { boxFaults } from '../../support/browser/box-faults.ts';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';
import { type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const kept = (page: Page) => page.evaluate("localStorage.getItem('signage-player-ticket')");
const text = (page: Page, selector: string) => () =>
  page.locator(selector).innerText({ timeout: 1000 });
const isHidden = (page: Page) => () => page.locator('#panel').isHidden();

/** Fills `localStorage` to the last character. */
const fillStorage = `
  for (let size = 2 ** 23; size >= 1; size /= 2)
    for (let n = 0; n < 4; n++)
      try { localStorage.setItem('x' + size + n, 'x'.repeat(size)); } catch {}`;

describe.skipIf(!chromiumPath)(`a ticket in the web player${needsChromium}`, () => {
  let service: TestService<Clock>;
  let shop: Manager;
  let venueId: string;

  beforeAll(async () => {
    service = await startService<Clock>({ clock: systemClock });
    shop = await manager(service).as('operator');
    // With a second tenant, offers without a ticket are confirmed at the TV.
    await manager(service).tenant('Strangers');
    venueId = (await shop.venue('Lobby')).id;
  });

  const screen = async (name: string) => (await shop.screen(venueId, name)).id;
  const linkOf = async (body: object) =>
    playerTicketLink(service.url, (await shop.post('/v1/tickets', body)).body.ticket);
  const started = async (screenId: string) =>
    (await shop.get(`/v1/events?screenId=${screenId}&type=app_started`)).body.items.length;

  it('binds the TV of a link, after it has shown for 10 s what the TV becomes', async () => {
    const screenId = await screen('Main');
    const link = await linkOf({ screenId });
    const tv = await openTvPage();
    await tv.page.goto(link);
    await expect.poll(text(tv.page, '.message')).toBe('This TV becomes Lobby/Main of default.');
    const shownAt = performance.now();
    expect(tv.page.url()).toBe(`${service.url}/player`);
    expect(await boxFaults(tv.page, '#panel')).toEqual([]);
    await expect.poll(() => started(screenId), { timeout: 20_000 }).toBe(1);
    expect(performance.now() - shownAt).toBeGreaterThan(9000);
    expect(await kept(tv.page)).toBeNull();
    await tv.close();
  });

  it('keeps the ticket over a reload without the network', async () => {
    const screenId = await screen('Offline');
    const tv = await openTvPage();
    await tv.page.route('**/devices/claims', (route) => route.abort());
    await tv.page.goto(await linkOf({ screenId }));
    await expect.poll(text(tv.page, '.claim')).toContain('cannot be reached');
    await tv.page.unroute('**/devices/claims');
    await tv.page.reload();
    await expect.poll(text(tv.page, '.message')).toBe('This TV becomes Lobby/Offline of default.');
    await tv.close();
  });

  it('waits with a shared ticket, and is bound without a question', async () => {
    const screenId = await screen('Shared');
    const tv = await openTvPage();
    await tv.page.goto(await linkOf({ venueId, uses: 1 }));
    const waiting = async () => (await shop.get('/v1/devices/claims')).body.items;
    await expect.poll(async () => (await waiting()).length).toBe(1);
    const { claim } = (await waiting())[0];
    await expect.poll(text(tv.page, '.claim .command')).toContain(claim.slice(0, 3));
    await shop.post('/v1/identify', { venueIds: [venueId], seconds: 60 });
    await expect.poll(text(tv.page, '#identity')).toBe(`${claim.slice(0, 3)}-${claim.slice(3)}`);
    await shop.post(`/v1/devices/claims/${claim}/offer`, { screenId });
    await expect.poll(text(tv.page, '.message')).toBe('This TV becomes Lobby/Shared of default.');
    expect(await tv.page.locator('#identity').isHidden()).toBe(true);
    await expect.poll(() => started(screenId), { timeout: 20_000 }).toBe(1);
    await tv.close();
  });

  it('says that a link cannot be used, and goes on without it', async () => {
    const link = await linkOf({ screenId: await screen('Gone') });
    const { id } = (await shop.get('/v1/tickets?limit=200')).body.items.at(-1);
    await shop.delete(`/v1/tickets/${id}`);
    const tv = await openTvPage();
    await tv.page.goto(link);
    await expect.poll(text(tv.page, '#panel')).toContain('The link of this TV cannot be used');
    await expect.poll(text(tv.page, '.claim .command')).toContain('signage pair');
    expect(await kept(tv.page)).toBeNull();
    await tv.close();
  });

  it('binds a TV whose storage is full', async () => {
    const screenId = await screen('Full');
    const link = await linkOf({ screenId });
    const tv = await openTvPage({ initScript: fillStorage });
    await tv.page.goto(link);
    await expect.poll(text(tv.page, '.message')).toBe('This TV becomes Lobby/Full of default.');
    await tv.close();
  });

  it('is ignored by a player that has a key', async () => {
    const screenId = await screen('Bound');
    const { code } = await shop.code(screenId);
    const tv = await openTvPage();
    await tv.page.goto(`${service.url}/player#${code}`);
    await expect.poll(() => started(screenId)).toBe(1);
    await expect.poll(isHidden(tv.page)).toBe(true);
    const other = await screen('Other');
    const link = await linkOf({ screenId: other });
    await tv.page.evaluate(`location.hash = ${JSON.stringify(link.slice(link.indexOf('#')))}`);
    await expect.poll(() => tv.page.url()).toBe(`${service.url}/player`);
    expect(await kept(tv.page)).toBeNull();
    await tv.page.reload();
    await expect.poll(() => started(screenId)).toBe(2);
    expect(await kept(tv.page)).toBeNull();
    expect((await shop.get(`/v1/screens/${other}`)).body.state).toBe('provisioning');
    await tv.close();
  });
});
