// Tickets, with which TVs enrol themselves (docs/protocol.md §3.7).
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { auditOf, type Manager, manager } from '../../support/service/management.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { type Sent, startService, type TestService } from '../../support/service/service.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
let service: TestService;
let admin: Manager;
let shop: Manager;
let strangers: string;
let venueId: string;
let screenId: string;
beforeEach(async () => {
  service = await startService();
  admin = await manager(service).as('admin');
  shop = await manager(service).as('operator');
  // With a second tenant, every claim without a ticket must be confirmed at the TV.
  strangers = (await manager(service).tenant('Strangers')).id;
  venueId = (await shop.venue('Lobby')).id;
  screenId = (await shop.screen(venueId, 'Main')).id;
});

const inDays = (days: number) => new Date(service.clock.now() + days * day).toISOString();
const create = (body: object) => shop.post('/v1/tickets', body);
const link = async (id = screenId) => (await create({ screenId: id })).body;
const shared = async (uses = 2) => (await create({ venueId, uses })).body;
const claim = (ticket: string, { deviceInfo = {}, ...sent }: Sent & { deviceInfo?: object } = {}) =>
  service.send('POST', '/devices/claims', { body: { deviceInfo, ticket }, ...sent });
const status = ({ claim: id, token }: { claim: string; token: string }) =>
  service.send('GET', `/devices/claims/${id}`, { key: token });
const offer = (id: string, screen: string, caller = shop) =>
  caller.post(`/v1/devices/claims/${id}/offer`, { screenId: screen });
/** Follows a link as a TV does. */
const follow = async (ticket: string) => {
  const made = await claim(ticket);
  if (made.status !== 201) return made;
  return service.register((await status(made.body)).body.pairingCode);
};

describe('a link', () => {
  it('offers its screen at once, without confirmation, and binds one TV', async () => {
    const made = await link();
    expect(made).toMatchObject({ venueId, screenId, status: 'live', uses: 1, used: 0 });
    expect(made.ticket).toMatch(/^tkt_[0-9A-Za-z]{49}$/);
    const { body } = await claim(made.ticket);
    expect((await status(body)).body).toMatchObject({
      status: 'offered',
      offer: { tenant: 'default', venue: 'Lobby', screen: 'Main', confirm: false },
    });
    const registered = await service.register((await status(body)).body.pairingCode);
    expect(registered.body.screenId).toBe(screenId);
    expect((await shop.get('/v1/tickets')).body.items).toMatchObject([{ status: 'used', used: 1 }]);
    expectProblem(await claim(made.ticket), 404, 'ticket_not_found');
    await shop.post(`/v1/devices/${registered.body.deviceId}/revoke`, {});
    expectProblem(await claim(made.ticket), 404, 'ticket_not_found');
  });

  it('is named by the notice and the audit entry of the binding, and its secret by nothing', async () => {
    const { id, ticket } = await link();
    const trail = await auditOf(admin, () => follow(ticket));
    const notices = await shop.get('/v1/notices?type=screen.paired');
    expect(notices.body.items[0].data).toMatchObject({ ticketId: id, screen: 'Main' });
    expect(trail.find(({ action }) => action === 'device.register')?.details.ticketId).toBe(id);
    const told = [notices.text, JSON.stringify(trail), (await shop.get('/v1/tickets')).text];
    expect(told.join()).not.toContain(ticket);
  });

  it('waits while another TV is bound to the screen, and works after its revocation', async () => {
    const { ticket } = await link();
    const { code } = await shop.code(screenId);
    const { deviceId } = (await service.register(code)).body;
    expectProblem(await claim(ticket), 409, 'screen_already_bound');
    expectProblem(await create({ screenId }), 409, 'screen_already_bound');
    await shop.post(`/v1/devices/${deviceId}/revoke`, {});
    expect((await follow(ticket)).body.screenId).toBe(screenId);
  });

  it('binds one of many TVs that use it at once', async () => {
    const { ticket } = await link();
    const made = await Promise.all(Array.from({ length: 12 }, () => claim(ticket)));
    const codes = await Promise.all(made.map(async ({ body }) => (await status(body)).body));
    // A link has at most five claims: the others have ended.
    const pending = codes.flatMap(({ pairingCode }) => (pairingCode ? [pairingCode] : []));
    expect(pending).toHaveLength(5);
    const answers = await Promise.all(pending.map((code) => service.register(code)));
    expect(answers.filter(({ status: got }) => got === 201)).toHaveLength(1);
  });

  it('leaves no codes of claims that gave way, however often a TV asks', async () => {
    const { ticket } = await link();
    for (let n = 0; n < 30; n++) expect((await claim(ticket)).status).toBe(201);
    const codes = (await manager(service).post('/v1/backup')).text
      .split('\n')
      .filter((line) => line.includes('"section":"codes"'));
    expect(codes.length).toBeLessThanOrEqual(5);
  });

  it('is revoked in the audit trail by a later link of its screen, if it still worked', async () => {
    const { id } = await link();
    const later = await auditOf(admin, () => link());
    expect(later.map(({ action, subject }) => [action, subject.id === id])).toEqual([
      ['ticket.revoke', true],
      ['ticket.create', false],
    ]);
    service.clock.advance(15 * day);
    expect((await auditOf(admin, () => link())).map(({ action }) => action)).toEqual([
      'ticket.create',
    ]);
  });

  it('ends with a later link of its screen, its revocation, its expiry, and its screen', async () => {
    const first = await link();
    const begun = (await claim(first.ticket)).body;
    const { pairingCode } = (await status(begun)).body;
    const second = await link();
    expectProblem(await claim(first.ticket), 404, 'ticket_not_found');
    expectProblem(await status(begun), 404, 'claim_not_found');
    expectProblem(await service.register(pairingCode), 410, 'pairing_code_cancelled');

    const late = (await status((await claim(second.ticket)).body)).body.pairingCode;
    expect((await shop.delete(`/v1/tickets/${second.id}`)).status).toBe(204);
    expectProblem(await service.register(late), 410, 'pairing_code_cancelled');
    expectProblem(await claim(second.ticket), 404, 'ticket_not_found');

    const third = await link();
    service.clock.advance(14 * day);
    expectProblem(await claim(third.ticket), 404, 'ticket_not_found');
    const fourth = await link();
    await shop.delete(`/v1/screens/${screenId}`);
    expectProblem(await claim(fourth.ticket), 404, 'ticket_not_found');
    expect((await shop.get('/v1/tickets')).body.items).toEqual([]);
  });
});

describe('a shared ticket', () => {
  it('waits for an installer of its venue, who needs no confirmation at the TV', async () => {
    const { id, ticket } = await shared();
    await shop.patch(`/v1/screens/${screenId}`, { serial: 'S-1' });
    const { body } = await claim(ticket, { deviceInfo: { model: 'QM55C', serial: 'S-1' } });
    expect((await status(body)).body).toMatchObject({ status: 'waiting', offer: null });
    const [waiting] = (await shop.get('/v1/devices/claims')).body.items;
    expect(waiting).toMatchObject({
      claim: body.claim,
      status: 'waiting',
      deviceInfo: { model: 'QM55C', serial: 'S-1' },
      ticketId: id,
      venueId,
      expectedScreenId: screenId,
    });
    const [notice] = (await shop.get('/v1/notices?type=claim.waiting')).body.items;
    expect(notice).toMatchObject({ venueId, data: { venue: 'Lobby', ticketId: id } });
    expect((await offer(body.claim, screenId)).status).toBe(201);
    const offered = (await status(body)).body;
    expect(offered.offer.confirm).toBe(false);
    expect((await service.register(offered.pairingCode)).status).toBe(201);
    expect((await shop.get('/v1/tickets')).body.items).toMatchObject([{ status: 'live', used: 1 }]);
  });

  it('is told of once an hour, however many TVs wait', async () => {
    const { ticket } = await shared();
    const told = async () => (await shop.get('/v1/notices?type=claim.waiting')).body.items.length;
    for (let n = 0; n < 3; n++) await claim(ticket);
    expect(await told()).toBe(1);
    service.clock.advance(hour);
    await claim(ticket);
    expect(await told()).toBe(2);
  });

  it('shows its TVs to nobody else, and lets them take only screens of its venue', async () => {
    const { ticket } = await shared();
    const { body } = await claim(ticket);
    const path = `/v1/devices/claims/${body.claim}`;
    const elsewhere = await shop.venue('Elsewhere');
    const other = await shop.screen(elsewhere.id, 'Side');
    const refused = await offer(body.claim, other.id);
    expectProblem(refused, 400, 'invalid_request');
    expect(refused.body.errors[0].path).toBe('/screenId');

    const bound = async (...venueIds: string[]) => {
      const created = { name: `Installer ${venueIds}`, role: 'installer', venueIds };
      return manager(service, (await admin.newToken(created)).token);
    };
    const away = await bound(elsewhere.id);
    const stranger = await manager(service).in(strangers).as('operator');
    for (const caller of [away, stranger]) {
      expectProblem(await caller.get(path), 404, 'claim_not_found');
      expect((await caller.get('/v1/devices/claims')).body.items).toEqual([]);
      expect((await caller.get('/v1/tickets')).body.items).toEqual([]);
      expectProblem(await caller.delete(`/v1/tickets/${body.claim}`), 404, 'ticket_not_found');
    }
    expectProblem(await offer(body.claim, other.id, away), 404, 'claim_not_found');
    const here = await bound(venueId);
    expect((await here.get(`/v1/devices/claims?venueId=${venueId}`)).body.items).toHaveLength(1);
    expect((await here.get(path)).status).toBe(200);
  });

  it('lets a waiting TV draw its claim while its venue is identified', async () => {
    const { ticket } = await shared();
    const { body } = await claim(ticket);
    const plain = await service.send('POST', '/devices/claims', { body: { deviceInfo: {} } });
    const held = (one: { claim: string; token: string }, seconds: number) =>
      service.send('GET', `/devices/claims/${one.claim}?waitSeconds=${seconds}`, {
        key: one.token,
      });
    const waiting = held(body, 50);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await shop.post('/v1/identify', { venueIds: [venueId], seconds: 60 });
    expect((await waiting).body).toMatchObject({ status: 'waiting', identifySeconds: 60 });
    expect((await status(plain.body)).body).not.toHaveProperty('identifySeconds');
    // The next hold is not answered again for the same request.
    const next = held(body, 50);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await offer(body.claim, screenId);
    expect((await next).body.status).toBe('offered');
    const late = (await claim(ticket)).body;
    service.clock.advance(minute);
    expect((await status(late)).body).not.toHaveProperty('identifySeconds');
  });

  it('is used up by bindings: no other TV waits or registers with it then', async () => {
    const { ticket } = await shared(1);
    const [one, other, third] = await Promise.all([1, 2, 3].map(() => claim(ticket)));
    await offer(one?.body.claim, screenId);
    const side = (await shop.screen(venueId, 'Side')).id;
    await offer(other?.body.claim, side);
    const codeOf = async (made: typeof one) => (await status(made?.body)).body.pairingCode;
    const late = await codeOf(other);
    expect((await service.register(await codeOf(one))).status).toBe(201);
    expectProblem(await service.register(late), 410, 'pairing_code_cancelled');
    expectProblem(await status(third?.body), 404, 'claim_not_found');
    expectProblem(await claim(ticket), 404, 'ticket_not_found');
  });

  it('lets as many TVs wait as it has uses, and 20, whose network has the most gives way', async () => {
    const proxied = await startService({ trustProxy: ['127.0.0.1'] });
    const owner = await manager(proxied).as('operator');
    const lobby = (await owner.venue('Lobby')).id;
    const { ticket } = (await owner.post('/v1/tickets', { venueId: lobby, uses: 1 })).body;
    const from = (address: string) =>
      proxied.send('POST', '/devices/claims', {
        body: { deviceInfo: {}, ticket },
        headers: { 'x-forwarded-for': address },
      });
    const honest = (await from('203.0.113.1')).body;
    for (let n = 0; n < 20; n++) expect((await from('198.51.100.7')).status).toBe(201);
    expect((await from('203.0.113.2')).status).toBe(201);
    const flood = await from('198.51.100.7');
    expectProblem(flood, 429, 'too_many_attempts');
    const { items } = (await owner.get('/v1/devices/claims?limit=200')).body;
    expect(items).toHaveLength(21);
    expect(items.map((one: { claim: string }) => one.claim)).toContain(honest.claim);
  });
});

describe('POST /v1/tickets', () => {
  it('repeats the answer to the same Idempotency-Key while the ticket lives', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const again = () => shop.send('POST', '/v1/tickets', { body: { screenId }, headers });
    const first = await again();
    expect((await again()).body).toEqual(first.body);
    await follow(first.body.ticket);
    expectProblem(await again(), 409, 'not_repeatable');
  });

  it.each([
    ['nothing', {}, '/screenId'],
    ['both kinds', { screenId: randomUUID(), venueId: randomUUID() }, '/screenId'],
    ['uses of a link', { screenId: randomUUID(), uses: 2 }, '/uses'],
    ['no uses of a shared ticket', { venueId: randomUUID() }, '/uses'],
    ['too many uses', { venueId: randomUUID(), uses: 501 }, '/uses'],
  ])('400 for %s', async (_what, body, path) => {
    const answer = await create(body);
    expectProblem(answer, 400, 'invalid_request');
    expect(answer.body.errors[0].path).toBe(path);
  });

  it('400 for an expiry that is past or beyond 90 days, and 409 beyond 20 shared tickets', async () => {
    for (const days of [-1, 91])
      expectProblem(await create({ screenId, expiresAt: inDays(days) }), 400, 'invalid_request');
    for (let n = 0; n < 20; n++) await shared();
    expectProblem(await create({ venueId, uses: 1 }), 409, 'too_many_tickets');
    expect((await create({ screenId })).status).toBe(201);
  });
});

describe('a ticket that is none', () => {
  it.each(['', 'tkt_', `tkt_${'0'.repeat(49)}`, 'x'.repeat(10_000), 'ABCD2345'])(
    'is 404: %.20s',
    async (ticket) => {
      expectProblem(await claim(ticket), 404, 'ticket_not_found');
    },
  );
});
