// Login requests (docs/protocol.md §5.20). The limits themselves: claim-limits.test.ts.
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { type Manager, manager, unknownId } from '../../support/service/management.ts';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const minute = 60_000;
const asker = { user: 'alice', host: 'front-desk' };
const unknownCode = 'AAAABBBB';
let service: TestService;
let platform: Manager;
let admin: Manager;

async function start(store = 'memory:') {
  service = await startService({ store, trustProxy: ['127.0.0.1'] });
  platform = manager(service);
  admin = await platform.as('admin');
}
beforeEach(() => start());

interface Shown {
  code: string;
  secret: string;
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const ask = (sent: Sent = {}) => service.send('POST', '/v1/logins', { body: asker, ...sent });
const asked = async (sent: Sent = {}): Promise<Shown> => (await ask(sent)).body;
const status = ({ code, secret }: Shown, query = '') =>
  service.send('GET', `/v1/logins/${code}/status${query}`, { key: secret });
const end = ({ code, secret }: Shown, sent: Sent = {}) =>
  service.send('DELETE', `/v1/logins/${code}`, { key: secret, ...sent });
const look = (code: string, caller = admin) => caller.get(`/v1/logins/${code}`);
let count = 0;
const approval = (more: object = {}) => ({
  name: `Alice ${++count}`,
  role: 'installer',
  expiresAt: new Date(service.clock.now() + 60 * minute).toISOString(),
  allVenues: true,
  ...more,
});
const approve = (code: string, body: object = approval(), caller = admin) =>
  caller.post(`/v1/logins/${code}/approve`, body);
const me = (token: string) => service.send('GET', '/v1/me', { key: token });
const tokenIds = async () =>
  (await admin.get('/v1/tokens?limit=200')).body.items.map(({ id }: { id: string }) => id);

describe('POST /v1/logins', () => {
  it('201 with a code of 8 characters, a secret, and ten minutes', async () => {
    const { status: code, body, headers } = await ask();
    expect(code).toBe(201);
    expect(body).toEqual({
      code: expect.stringMatching(/^[A-HJKMNP-Z2-9]{8}$/),
      secret: expect.stringMatching(/^lgn_[0-9A-Za-z]{49}$/),
      expiresInSeconds: 600,
    });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('201 with the same code for the same Idempotency-Key, while the request lives', async () => {
    const sent = { headers: { 'idempotency-key': randomUUID() } };
    const first = await ask(sent);
    service.clock.advance(minute);
    expect((await ask(sent)).body).toEqual({ ...first.body, expiresInSeconds: 540 });
    service.clock.advance(10 * minute);
    expect((await ask(sent)).body).toMatchObject({ expiresInSeconds: 600 });
  });

  it('deletes the token that nobody used of the expired request that it replaces', async () => {
    const sent = { headers: { 'idempotency-key': randomUUID() } };
    const first = await asked(sent);
    const { id } = (await approve(first.code)).body;
    // Housekeeping runs just before the request expires, and not again until the repeat.
    service.clock.advance(10 * minute - 1);
    expect(await tokenIds()).toContain(id);
    service.clock.advance(1);
    expect(await asked(sent)).toMatchObject({ code: first.code });
    expect(await tokenIds()).not.toContain(id);
  });

  it.each([
    ['escape sequences in the user', { user: '\u001b[2Jroot', host: 'desk' }],
    ['escape sequences in the host', { user: 'root', host: 'desk\u009b31m' }],
    ['marks that turn the text round', { user: 'root\u202e', host: 'desk' }],
    ['an empty user', { user: ' ', host: 'desk' }],
    ['a long host', { user: 'root', host: 'x'.repeat(101) }],
    ['no host', { user: 'root' }],
    ['a wish for a role', { ...asker, role: 'admin' }],
  ])('400 for %s', async (_, body) => {
    expectProblem(await ask({ body }), 400, 'invalid_request');
  });

  it('413 for a megabyte of nonsense, before it is read', async () => {
    const body = JSON.stringify({ ...asker, host: 'x'.repeat(1_000_000) });
    expectProblem(await ask({ body }), 413, 'body_too_large');
  });

  it('429 for the sixth at an address within a minute, then the oldest gives way', async () => {
    const first = await asked();
    service.clock.advance(minute / 2);
    for (let n = 0; n < 4; n++) expect((await ask()).status).toBe(201);
    const refused = await ask();
    expectProblem(refused, 429, 'too_many_attempts');
    expect(refused.headers.get('retry-after')).toBe('30');
    expect((await ask(from('203.0.113.8'))).status).toBe(201);
    const held = status(first, '?waitSeconds=50');
    service.clock.advance(minute / 2);
    expect((await ask()).status).toBe(201);
    expectProblem(await held, 404, 'login_not_found');
  });

  it('429 for the 21st of a /48, and the TVs there still get claims', async () => {
    const addresses = Array.from({ length: 21 }, (_, n) => from(`2001:db8:1:${n}::1`));
    const statuses: number[] = [];
    for (const address of addresses) statuses.push((await ask(address)).status);
    expect(statuses).toEqual([...Array(20).fill(201), 429]);
    const claims = addresses
      .slice(0, 20)
      .map((address) =>
        service.send('POST', '/devices/claims', { body: { deviceInfo: {} }, ...address }),
      );
    for (const { status: code } of await Promise.all(claims)) expect(code).toBe(201);
  });
});

describe('GET /v1/logins/:code/status', () => {
  it('200 waiting, then approved with the token and its tenant, until its first use', async () => {
    const venue = await admin.venue('Lobby');
    const shown = await asked();
    const waiting = { status: 'waiting', expiresInSeconds: 600, grant: null };
    expect((await status(shown)).body).toEqual(waiting);
    const given = { venueIds: [venue.id], allVenues: undefined };
    const { body: made, headers } = await approve(shown.code, approval(given));
    expect(headers.get('location')).toBe(`/v1/tokens/${made.id}`);
    expect(made.token).toBeUndefined();
    const answer = await status(shown);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      status: 'approved',
      expiresInSeconds: 600,
      grant: {
        ...{ tokenId: made.id, name: made.name, role: 'installer', expiresAt: made.expiresAt },
        ...{ tenantId: made.tenantId, tenantName: 'default' },
        ...{ venueIds: [venue.id], venueNames: ['Lobby'] },
        token: expect.stringMatching(/^mak_[0-9A-Za-z]{49}$/),
      },
    });
    expect((await status(shown)).body.grant.token).toBe(answer.body.grant.token);
    const { body } = await me(answer.body.grant.token);
    expect(body).toMatchObject({ tokenId: made.id, role: 'installer', venueIds: [venue.id] });
    expectProblem(await status(shown), 404, 'login_not_found');
  });

  it('is held until the approval; a further one ends the held one', async () => {
    const shown = await asked();
    const first = status(shown, '?waitSeconds=50');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const second = status(shown, '?waitSeconds=50');
    expect((await first).body.status).toBe('waiting');
    await approve(shown.code);
    expect((await second).body.status).toBe('approved');
  });

  it('404 without the secret, with that of another request, and after ten minutes', async () => {
    const [one, other] = [await asked(), await asked()];
    const path = `/v1/logins/${one.code}/status`;
    expectProblem(await service.send('GET', path), 404, 'login_not_found');
    expectProblem(await status({ ...one, secret: other.secret }), 404, 'login_not_found');
    expectProblem(await admin.get(path), 404, 'login_not_found');
    expectProblem(await status({ ...one, code: unknownCode }), 404, 'login_not_found');
    await approve(one.code);
    expectProblem(await status({ ...one, secret: other.secret }), 404, 'login_not_found');
    service.clock.advance(10 * minute);
    expectProblem(await status(one), 404, 'login_not_found');
    expectProblem(await approve(other.code), 404, 'login_not_found');
  });

  it.each<[string, (tokenId: string) => Promise<unknown>]>([
    ['deleted', (id) => admin.delete(`/v1/tokens/${id}`)],
    ['rotated', (id) => admin.post(`/v1/tokens/${id}/rotate`)],
  ])('404 when the token was %s', async (_, change) => {
    const shown = await asked();
    await change((await approve(shown.code)).body.id);
    expectProblem(await status(shown), 404, 'login_not_found');
  });

  it('404 when the tenant of the approval was deleted', async () => {
    const { id } = await platform.tenant('Short');
    const shown = await asked();
    const held = status(shown);
    const short = await platform.in(id).as('admin');
    expect((await approve(shown.code, approval(), short)).status).toBe(201);
    await held;
    expect((await platform.in(id).delete(`/v1/tenants/${id}`)).status).toBe(204);
    expectProblem(await status(shown), 404, 'login_not_found');
  });
});

describe('GET /v1/logins/:code', () => {
  it('200 with what the asker says of itself, its address and since when', async () => {
    const { code, secret } = await asked(from('203.0.113.7'));
    service.clock.advance(minute);
    const { status: answered, body, text } = await look(code);
    expect(answered).toBe(200);
    expect(body).toEqual({
      ...{ code, ...asker, status: 'waiting', address: '203.0.113.7', expiresInSeconds: 540 },
      createdAt: new Date(service.clock.now() - minute).toISOString(),
    });
    expect(text).not.toContain(secret);
  });

  it('429 after ten unknown codes of a token, and thirty of a tenant, also for an approval', async () => {
    const { code } = await asked();
    for (let n = 0; n < 10; n++) expectProblem(await look(unknownCode), 404, 'login_not_found');
    expectProblem(await look(code), 429, 'too_many_attempts');
    expectProblem(await approve(code), 429, 'too_many_attempts');
    const others = [await platform.as('admin'), await platform.as('admin')];
    expect((await look(code, others[0])).status).toBe(200);
    for (const other of others) for (let n = 0; n < 10; n++) await look(unknownCode, other);
    expectProblem(await look(code, await platform.as('admin')), 429, 'too_many_attempts');
    const stranger = await platform.in((await platform.tenant('Strangers')).id).as('admin');
    expect((await look(code, stranger)).status).toBe(200);
  });
});

describe('POST /v1/logins/:code/approve', () => {
  it('201 once of two at the same moment, and then 409', async () => {
    const { code } = await asked();
    const both = await Promise.all([approve(code), approve(code)]);
    expect(both.map((answer) => answer.status).toSorted()).toEqual([201, 409]);
    expectProblem(await approve(code), 409, 'login_approved');
  });

  it('201 for one tenant, to all others the code is unknown from then on', async () => {
    const stranger = await platform.in((await platform.tenant('Strangers')).id).as('admin');
    const { code } = await asked();
    const callers = [admin, stranger];
    const both = await Promise.all(callers.map((caller) => approve(code, approval(), caller)));
    const won = both[0]?.status === 201 ? 0 : 1;
    expect(both.map((answer) => answer.status).toSorted()).toEqual([201, 404]);
    expectProblem(await look(code, callers[1 - won]), 404, 'login_not_found');
    expect((await look(code, callers[won])).body.status).toBe('approved');
  });

  it('201 with the same token for the same Idempotency-Key, and another key is 409', async () => {
    const { code } = await asked();
    const body = approval();
    const send = (key: string) =>
      admin.send('POST', `/v1/logins/${code}/approve`, {
        body,
        headers: { 'idempotency-key': key },
      });
    const [key, other] = [randomUUID(), randomUUID()];
    const { body: made } = await send(key);
    expect((await send(key)).body).toEqual(made);
    expectProblem(await send(other), 409, 'login_approved');
  });

  it.each<[string, object]>([
    ['no role', { role: undefined }],
    ['a role of the whole service', { role: 'platform' }],
    ['the role backup', { role: 'backup' }],
    ['no expiry', { expiresAt: undefined }],
    ['no limit of time', { expiresAt: null }],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['neither venues nor all venues', { allVenues: undefined }],
    ['both', { venueIds: [unknownId] }],
    ['all venues that are not all', { allVenues: false }],
  ])('400 for %s', async (_, more) => {
    const { code } = await asked();
    for (const caller of [admin, platform])
      expectProblem(await approve(code, approval(more), caller), 400, 'invalid_request');
    expect((await look(code)).body.status).toBe('waiting');
  });

  it('gives no more than the approver has: venues, time, role', async () => {
    const [venue, other] = [await admin.venue('Lobby'), await admin.venue('Bar')];
    const expiresAt = new Date(service.clock.now() + 5 * minute).toISOString();
    const few = { name: 'Few', role: 'admin', venueIds: [venue.id], expiresAt };
    const bound = manager(service, (await admin.newToken(few)).token);
    const { code } = await asked();
    expectProblem(await approve(code, approval(), bound), 403, 'insufficient_role');
    const all = undefined;
    const beyond = approval({ venueIds: [other.id], allVenues: all });
    expectProblem(await approve(code, beyond, bound), 404, 'venue_not_found');
    const operator = await platform.as('operator');
    expectProblem(await approve(code, approval(), operator), 403, 'insufficient_role');
    const own = approval({ venueIds: [venue.id], allVenues: all });
    expect((await approve(code, own, bound)).body).toMatchObject({ expiresAt });
  });

  it('409 for a taken name, and the code can still be approved', async () => {
    const { code } = await asked();
    await admin.newToken({ name: 'Taken', role: 'viewer' });
    expectProblem(await approve(code, approval({ name: 'taken' })), 409, 'name_taken');
    expect((await approve(code)).status).toBe(201);
  });

  it('401 for a revoked token of an admin, whose earlier approvals stay', async () => {
    const [one, other] = [await asked(), await asked()];
    const { id, token } = await admin.newToken({ name: 'Gone', role: 'admin' });
    const gone = manager(service, token);
    await approve(one.code, approval(), gone);
    await admin.delete(`/v1/tokens/${id}`);
    expectProblem(await approve(other.code, approval(), gone), 401, 'credential_invalid');
    expect((await status(one)).body.status).toBe('approved');
    expect((await status(other)).body.status).toBe('waiting');
  });

  it('is recorded as token.approve, with what the asker says of itself', async () => {
    const { code } = await asked(from('203.0.113.7'));
    const { body: made } = await approve(code);
    const [entry] = (await admin.get('/v1/audit?action=token.approve')).body.items;
    expect(entry).toMatchObject({
      subject: { kind: 'token', id: made.id },
      details: { name: made.name, role: 'installer', code, ...asker, address: '203.0.113.7' },
    });
  });
});

describe('DELETE /v1/logins/:code', () => {
  it('204 with the secret, and the code is unknown', async () => {
    const [one, other] = [await asked(), await asked()];
    expectProblem(await end({ ...one, secret: other.secret }), 404, 'login_not_found');
    expect((await end(one)).status).toBe(204);
    expectProblem(await look(one.code), 404, 'login_not_found');
    expectProblem(await end(one), 404, 'login_not_found');
  });

  it.each([
    ['unused', async () => {}],
    ['used', async (token: string) => void (await me(token))],
  ])('204 deletes the %s token of an approval', async (_, use) => {
    const shown = await asked();
    const { body: made } = await approve(shown.code);
    const { token } = (await status(shown)).body.grant;
    await use(token);
    expect((await end(shown)).status).toBe(204);
    expectProblem(await me(token), 401, 'credential_invalid');
    const query = `/v1/audit?action=token.delete&subjectId=${made.id}`;
    expect((await admin.get(query)).body.items).toMatchObject([{ actor: { kind: 'system' } }]);
  });

  it('403 for a web page of another origin', async () => {
    const shown = await asked();
    const headers = { origin: 'https://evil.example' };
    expectProblem(await end(shown, { headers }), 403, 'origin_refused');
    expect((await status(shown)).status).toBe(200);
  });
});

describe('the end of an approved request', () => {
  it.each<[string, (token: string) => Promise<unknown>, boolean]>([
    ['deletes the token that nobody used', async () => {}, false],
    ['keeps the token that was used', me, true],
  ])('%s', async (_, use, isKept) => {
    const shown = await asked();
    service.clock.advance(9 * minute);
    const { body: made } = await approve(shown.code);
    service.clock.advance(9 * minute);
    await use((await status(shown)).body.grant.token);
    service.clock.advance(3 * minute);
    await expect.poll(async () => (await tokenIds()).includes(made.id)).toBe(isKept);
    expectProblem(await status(shown), 404, 'login_not_found');
  });
});

describe.each([
  ['files', temporaryFolder],
  ['PostgreSQL', freshDatabase],
])('on %s', (_, newStore) => {
  it('a request survives a restart, and one of two approvals wins', async () => {
    await start(await newStore());
    const shown = await asked();
    await service.restart();
    const both = await Promise.all([approve(shown.code), approve(shown.code)]);
    expect(both.map((answer: Answer) => answer.status).toSorted()).toEqual([201, 409]);
    await service.restart();
    const { token } = (await status(shown)).body.grant;
    expect((await me(token)).status).toBe(200);
  });

  it('neither the dump nor the audit trail has the secret or the token', async () => {
    await start(await newStore());
    const shown = await asked();
    await approve(shown.code);
    const { token } = (await status(shown)).body.grant;
    const { text: dump } = await platform.post('/v1/backup');
    const { text: trail } = await admin.get('/v1/audit');
    expect(dump).toContain(shown.code);
    for (const text of [dump, trail])
      for (const secret of [shown.secret, token]) expect(text).not.toContain(secret.slice(4, 40));
  });
});
