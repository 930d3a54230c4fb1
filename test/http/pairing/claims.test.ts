import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Manager, manager } from '../../support/service/management.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { type Sent, startService, type TestService } from '../../support/service/service.ts';

const minute = 60_000;
const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C' };
let service: TestService;
beforeEach(async () => {
  service = await startService();
});

const claim = (sent: Sent = {}) =>
  service.send('POST', '/devices/claims', { body: { deviceInfo }, ...sent });
const status = ({ claim: id, token }: { claim: string; token: string }, query = '') =>
  service.send('GET', `/devices/claims/${id}${query}`, { key: token });
const look = (id: string, key?: string) =>
  service.manage('GET', `/v1/devices/claims/${id}`, undefined, key === undefined ? {} : { key });
const offer = (id: string, screenId: string, sent: Sent = {}) =>
  service.manage('POST', `/v1/devices/claims/${id}/offer`, { screenId }, sent);
const unknownClaim = 'AAAA22';

/** Returns a caller of the only tenant so far, and one of a new tenant. Each has a screen. */
async function shopAndStranger() {
  const platform = manager(service);
  const shop = await platform.as('operator');
  const { id } = await platform.tenant('Strangers');
  const stranger = await platform.in(id).as('operator');
  const withScreen = async (caller: Manager) => ({
    ...caller,
    screenId: (await caller.screen((await caller.venue('Lobby')).id, 'Main')).id,
  });
  return { shop: await withScreen(shop), stranger: await withScreen(stranger) };
}

describe('POST /devices/claims', () => {
  it('201 with a claim of 6 characters, a token, and ten minutes', async () => {
    const { status: code, body, headers } = await claim();
    expect(code).toBe(201);
    expect(body).toEqual({
      claim: expect.stringMatching(/^[A-HJKMNP-Z2-9]{6}$/),
      token: expect.stringMatching(/^clm_[0-9A-Za-z]{49}$/),
      expiresInSeconds: 600,
    });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('201 with the same claim for the same Idempotency-Key, while the claim lives', async () => {
    const sent = { headers: { 'idempotency-key': randomUUID() } };
    const first = await claim(sent);
    service.clock.advance(minute);
    const again = await claim(sent);
    expect(again.body).toEqual({ ...first.body, expiresInSeconds: 540 });
    const other = await claim({ headers: { 'idempotency-key': randomUUID() } });
    expect(other.body.claim).not.toBe(first.body.claim);
  });
});

describe('GET /devices/claims/:claim', () => {
  it('200 waiting, then offered with the code and the names of the screen', async () => {
    const { body: made } = await claim();
    expect((await status(made)).body).toEqual({
      status: 'waiting',
      pairingCode: null,
      expiresInSeconds: 600,
      offer: null,
    });
    const venue = await service.venue({ name: 'Lobby' });
    const screen = await service.screen({ venueId: venue.id, name: 'Main' });
    const offered = await offer(made.claim, screen.id);
    expect(offered.status).toBe(201);
    const answer = await status(made);
    expect(answer.body).toEqual({
      status: 'offered',
      pairingCode: offered.body.code,
      expiresInSeconds: 900,
      offer: {
        tenant: 'default',
        tenantId: screen.tenantId,
        venue: 'Lobby',
        screen: 'Main',
        confirm: false,
      },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const registered = await service.register(answer.body.pairingCode);
    expect(registered.body.screenId).toBe(screen.id);
    expectProblem(await status(made), 404, 'claim_not_found');
  });

  it('404 without the token, with that of another claim, and after ten minutes', async () => {
    const [{ body: one }, { body: other }] = await Promise.all([claim(), claim()]);
    expectProblem(
      await service.send('GET', `/devices/claims/${one.claim}`),
      404,
      'claim_not_found',
    );
    expectProblem(await status({ ...one, token: other.token }), 404, 'claim_not_found');
    expectProblem(await status({ ...one, claim: unknownClaim }), 404, 'claim_not_found');
    service.clock.advance(10 * minute);
    expectProblem(await status(one), 404, 'claim_not_found');
  });
});

describe('GET /v1/devices/claims/:claim', () => {
  it('200 with what the TV tells of itself, and its address', async () => {
    const { body: made } = await claim();
    const { status: code, body } = await look(made.claim);
    expect(code).toBe(200);
    expect(body).toMatchObject({
      claim: made.claim,
      status: 'waiting',
      deviceInfo: expect.objectContaining(deviceInfo),
      address: '127.0.0.1',
      expiresInSeconds: 600,
    });
    expect(JSON.stringify(body)).not.toContain(made.token);
  });

  it('404 for ten unknown claims of a token, then 429, also for a claim that exists', async () => {
    const { body: made } = await claim();
    const [one, other] = [await service.token('installer'), await service.token('installer')];
    for (let n = 0; n < 10; n++)
      expectProblem(await look(unknownClaim, one), 404, 'claim_not_found');
    const refused = await look(made.claim, one);
    expectProblem(refused, 429, 'too_many_attempts');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const screen = await service.screen();
    expectProblem(await offer(made.claim, screen.id, { key: one }), 429, 'too_many_attempts');
    expect((await look(made.claim, other)).status).toBe(200);
    service.clock.advance(10 * minute);
    expectProblem(await look(unknownClaim, one), 404, 'claim_not_found');
  });

  it('429 after thirty unknown claims of all tokens of a tenant', async () => {
    const { body: made } = await claim();
    for (let n = 0; n < 3; n++) {
      const key = await service.token('installer');
      for (let guess = 0; guess < 10; guess++) await look(unknownClaim, key);
    }
    expectProblem(await look(made.claim), 429, 'too_many_attempts');
  });
});

describe('claims that another tenant has offered a screen', () => {
  it('404 for a look-up and for an offer, and 200 for the offering tenant', async () => {
    const { shop, stranger } = await shopAndStranger();
    const { body: made } = await claim();
    expect((await look(made.claim, stranger.token)).status).toBe(200);
    const sent = { key: shop.token, headers: { 'idempotency-key': randomUUID() } };
    const offered = await offer(made.claim, shop.screenId, sent);
    const seen = await look(made.claim, stranger.token);
    expectProblem(seen, 404, 'claim_not_found');
    expect(seen.text).not.toContain(deviceInfo.model);
    const further = await offer(made.claim, stranger.screenId, { key: stranger.token });
    expectProblem(further, 404, 'claim_not_found');
    expect((await look(made.claim, shop.token)).body.deviceInfo).toMatchObject(deviceInfo);
    expect((await offer(made.claim, shop.screenId, sent)).body.code).toBe(offered.body.code);
    expectProblem(
      await offer(made.claim, shop.screenId, { key: shop.token }),
      409,
      'claim_offered',
    );
  });

  it('429 after ten of them, as after ten unknown claims', async () => {
    const { shop, stranger } = await shopAndStranger();
    const { body: made } = await claim();
    await offer(made.claim, shop.screenId, { key: shop.token });
    for (let n = 0; n < 10; n++) await look(made.claim, stranger.token);
    expectProblem(await look(made.claim, stranger.token), 429, 'too_many_attempts');
  });
});

describe('POST /v1/devices/claims/:claim/offer', () => {
  it('201 as for a new code, with an audit entry that does not contain the code', async () => {
    const { body: made } = await claim();
    const screen = await service.screen();
    const { status: code, body, headers } = await offer(made.claim, screen.id);
    expect(code).toBe(201);
    expect(body).toMatchObject({ screenId: screen.id, status: 'pending', expiresInSeconds: 900 });
    const path = `/v1/devices/provisioning-codes/${body.code}/status`;
    expect(headers.get('location')).toBe(path);
    expect((await service.manage('GET', path)).body.status).toBe('pending');
    const audit = await service.manage('GET', `/v1/audit?subjectId=${screen.id}`);
    expect(audit.body.items[0]).toMatchObject({
      action: 'claim.offer',
      details: { claim: made.claim, address: '127.0.0.1' },
    });
    expect(audit.text).not.toContain(body.code);
    expectProblem(await offer(unknownClaim, screen.id), 404, 'claim_not_found');
  });

  it('201 with the same code for the same Idempotency-Key, after an offer of another claim', async () => {
    const [{ body: one }, { body: other }] = await Promise.all([claim(), claim()]);
    const screen = await service.screen();
    const sent = { headers: { 'idempotency-key': randomUUID() } };
    const first = await offer(one.claim, screen.id, sent);
    expect((await offer(other.claim, screen.id, sent)).body.code).not.toBe(first.body.code);
    expect((await offer(one.claim, screen.id, sent)).body.code).toBe(first.body.code);
  });

  it('201 for one of 20 offers at once', async () => {
    const { body: made } = await claim();
    const screens = await Promise.all(Array.from({ length: 20 }, () => service.screen()));
    const answers = await Promise.all(screens.map(({ id }) => offer(made.claim, id)));
    expect(answers.filter(({ status: code }) => code === 201)).toHaveLength(1);
    expect(new Set(answers.map(({ status: code }) => code))).toEqual(new Set([201, 409]));
  });

  it('keeps claim and offer over a restart of the service', async () => {
    service = await startService({ store: await temporaryFolder() });
    const { body: made } = await claim();
    const screen = await service.screen();
    const offered = await offer(made.claim, screen.id);
    await service.restart();
    expect((await status(made)).body.pairingCode).toBe(offered.body.code);
  });
});

it('asks for confirmation at a TV whose address the tenant does not know', async () => {
  service = await startService({ trustProxy: ['127.0.0.1'] });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const { body: made } = await claim(from('203.0.113.7'));
  const screen = await service.screen();
  await offer(made.claim, screen.id, from('198.51.100.4'));
  const asked = await service.send('GET', `/devices/claims/${made.claim}`, {
    key: made.token,
    ...from('203.0.113.7'),
  });
  expect(asked.body.offer.confirm).toBe(true);
  await service.manage('GET', '/v1/me', undefined, from('203.0.113.7'));
  expect((await status(made)).body.offer.confirm).toBe(false);
});

it('asks for confirmation of every offer if the service has several tenants', async () => {
  service = await startService({ trustProxy: ['127.0.0.1'] });
  const atVenue = { headers: { 'x-forwarded-for': '203.0.113.7' } };
  const own = await manager(service).as('installer');
  const screen = await service.screen();
  const { body: made } = await claim(atVenue);
  await offer(made.claim, screen.id);
  await own.send('GET', '/v1/me', atVenue);
  expect((await status(made)).body.offer.confirm).toBe(false);
  await manager(service).tenant('Neighbour');
  expect((await status(made)).body.offer.confirm).toBe(true);
});

it("asks for confirmation of the offer of a stranger who calls from the TV's address", async () => {
  service = await startService({ trustProxy: ['127.0.0.1'] });
  const atVenue = { headers: { 'x-forwarded-for': '203.0.113.7' } };
  const { stranger } = await shopAndStranger();
  const { body: made } = await claim(atVenue);
  await offer(made.claim, stranger.screenId, { key: stranger.token, ...atVenue });
  expect((await status(made)).body.offer.confirm).toBe(true);
});

it('answers a held claim as waiting when the TV asks again', async () => {
  const held = await startService({ clock: systemClock });
  const { body } = await held.send('POST', '/devices/claims', { body: { deviceInfo } });
  const hold = () =>
    held.send('GET', `/devices/claims/${body.claim}?waitSeconds=50`, { key: body.token });
  const answers = [hold(), hold()];
  expect((await Promise.race(answers)).body.status).toBe('waiting');
  const { id: screenId } = await held.screen();
  await held.manage('POST', `/v1/devices/claims/${body.claim}/offer`, { screenId });
  const statuses = (await Promise.all(answers)).map((answer) => answer.body.status);
  expect(statuses.toSorted()).toEqual(['offered', 'waiting']);
});
