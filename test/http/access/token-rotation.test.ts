// `POST /v1/tokens/:id/rotate` (docs/protocol.md §5.13): a token gets a new secret, and nobody is
// locked out, whichever answer is lost.
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { impression } from '../../support/service/content.ts';
import { lateRequest } from '../../support/service/late-request.ts';
import { auditOf, expectProblem, type Manager, manager } from '../../support/service/management.ts';
import {
  type Answer,
  adminToken,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const hourMs = 60 * 60 * 1000;
const newKey = () => `key-${crypto.randomUUID()}`;
const name = () => `Token ${crypto.randomUUID()}`;

let service: TestService;
let platform: Manager;
let admin: Manager;

const make = (more: object = {}, by = admin) =>
  by.newToken({ name: name(), role: 'viewer', ...more });

function rotate(id: string, key?: string, by = admin): Promise<Answer> {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  return by.send('POST', `/v1/tokens/${id}/rotate`, { headers });
}

/** Status of a request with this token, which counts as a use. */
const use = async (token: string, on = service) => (await manager(on, token).get('/v1/me')).status;

/** Actions of the audit entries that `work` writes, with the names of their actors. */
const actionsOf = async (id: string, work: () => Promise<unknown>) =>
  (await auditOf(admin, work))
    .filter(({ subject }) => subject.id === id)
    .map(({ action, actor }) => [action, actor.name]);

describe('POST /v1/tokens/:id/rotate', () => {
  beforeAll(async () => {
    service = await startService();
    platform = manager(service);
    admin = await platform.as('admin');
  });

  it('200 with a new secret; id, name, role and scope stay', async () => {
    const { id: venueId } = await platform.venue(name());
    const reach = { expiresAt: '2099-01-01T00:00:00.000Z', venueIds: [venueId] };
    const { token, ...known } = await make({ role: 'operator', ...reach });
    const answer = await rotate(known.id);
    expect(answer.status, answer.text).toBe(200);
    const { token: newer, oldTokenUntil, ...view } = answer.body;
    expect(view).toEqual(known);
    expect(newer).toMatch(/^mak_[0-9A-Za-z]{49}$/);
    expect(newer).not.toBe(token);
    expect(Date.parse(oldTokenUntil)).toBe(service.clock.now() + 24 * hourMs);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    for (const path of [`/v1/tokens/${known.id}`, '/v1/tokens?limit=200', '/v1/audit?limit=200'])
      expect((await admin.get(path)).text).not.toContain(newer.slice(4));
  });

  it('the audit trail names who rotated, and the token that took over', async () => {
    const { id, name: own, token } = await make();
    const { name: rotator } = (await admin.get('/v1/me')).body;
    const actions = await actionsOf(id, async () => {
      const { body } = await rotate(id);
      await use(token);
      await use(body.token);
      await use(body.token);
    });
    expect(actions).toEqual([
      ['token.rotate', rotator],
      ['token.activate', own],
    ]);
  });

  it('409 not_repeatable for the Idempotency-Key of a secret that another rotation replaced', async () => {
    const { id } = await make();
    const key = newKey();
    await rotate(id, key);
    await rotate(id);
    expectProblem(await rotate(id, key), 'not_repeatable', { existingId: id });
  });

  it('one Idempotency-Key for two tokens gives two secrets', async () => {
    const [one, other] = [await make(), await make()];
    const key = newKey();
    const secrets = [(await rotate(one.id, key)).body, (await rotate(other.id, key)).body];
    expect(secrets.map(({ id }) => id)).toEqual([one.id, other.id]);
    expect(secrets[0].token).not.toBe(secrets[1].token);
    expect((await rotate(one.id.toUpperCase(), key)).body.token).toBe(secrets[0].token);
  });

  it('a creation is not repeated after a rotation: its secret is replaced', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const body = { name: name(), role: 'viewer' };
    const create = () => admin.send('POST', '/v1/tokens', { headers, body });
    const { id } = (await create()).body;
    await rotate(id);
    expectProblem(await create(), 'not_repeatable', { existingId: id });
  });

  it('a token rotates itself, and repeats that with the old secret', async () => {
    const own = await admin.as('admin');
    const { tokenId } = (await own.get('/v1/me')).body;
    const key = newKey();
    const first = await rotate(tokenId, key, own);
    expect((await rotate(tokenId, key, own)).body).toEqual(first.body);
    const renewed = manager(service, first.body.token);
    expect((await renewed.get('/v1/tokens')).status).toBe(200);
    expectProblem(await rotate(tokenId, key, own), 'credential_invalid');
    expectProblem(await rotate(tokenId, key, renewed), 'not_repeatable');
  });

  it('eight at a time: one new secret remains, and the old one', async () => {
    const { id, token } = await make();
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(await use(token)).toBe(200);
    const statuses = [];
    for (const { body } of answers) statuses.push(await use(body.token));
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(401)]);
    expect(await use(token)).toBe(401);
  });

  it('eight at a time with one Idempotency-Key get one secret', async () => {
    const { id } = await make();
    const key = newKey();
    const actions = await actionsOf(id, async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id, key)));
      expect(new Set(answers.map(({ body }) => body.token)).size).toBe(1);
    });
    expect(actions.length).toBe(1);
  });

  it('eight first uses at a time: all are answered, and one takes over', async () => {
    const { id } = await make();
    const { token } = (await rotate(id)).body;
    const actions = await actionsOf(id, async () => {
      const statuses = await Promise.all(Array.from({ length: 8 }, () => use(token)));
      expect(statuses).toEqual(Array(8).fill(200));
    });
    expect(actions.map(([action]) => action)).toEqual(['token.activate']);
  });

  it('a deletion ends both secrets', async () => {
    const { id, token } = await make();
    const { body } = await rotate(id);
    expect((await admin.delete(`/v1/tokens/${id}`)).status).toBe(204);
    expect([await use(token), await use(body.token)]).toEqual([401, 401]);
    expectProblem(await rotate(id), 'token_not_found');
  });

  it('a half-sent request with the old secret changes nothing once the new one was used', async () => {
    const { id, token } = await make({ role: 'operator' });
    const { body } = await rotate(id);
    const title = name();
    const seen = async () => (await admin.get(`/v1/tokens/${id}`)).body.lastUsedAt;
    const sent = { method: 'POST', path: '/v1/venues', key: token, body: { name: title } };
    const before = await seen();
    const late = lateRequest(service.url, sent);
    await expect.poll(seen, { interval: 2 }).not.toBe(before);
    expect(await use(body.token)).toBe(200);
    expect((await late.finish()).status).toBe(401);
    const found = await admin.get(`/v1/venues?name=${encodeURIComponent(title)}`);
    expect(found.body.items).toEqual([]);
  });

  it('the old secret works for 24 hours at most; the new one stays', async () => {
    const { id, token } = await make();
    const { body } = await rotate(id);
    service.clock.advance(24 * hourMs - 1);
    expect(await use(token)).toBe(200);
    service.clock.advance(1);
    expectProblem(await manager(service, token).get('/v1/me'), 'credential_invalid');
    expect(await use(body.token)).toBe(200);
  });

  it('both secrets survive a restart', async () => {
    const own = await startService({ store: await temporaryFolder() });
    const { id, token } = await make({}, manager(own));
    const { body } = await rotate(id, undefined, manager(own));
    await own.restart();
    expect([await use(token, own), await use(body.token, own)]).toEqual([200, 200]);
    await own.restart();
    expect([await use(token, own), await use(body.token, own)]).toEqual([401, 200]);
  });

  it('403 for a token that outlives the caller: an expiring token gets no lasting secret', async () => {
    const inOneHour = new Date(service.clock.now() + hourMs).toISOString();
    const expiring = await make({ role: 'admin', expiresAt: inOneHour });
    const caller = manager(service, expiring.token);
    const lasting = await make({ role: 'admin' });
    const later = new Date(service.clock.now() + 2 * hourMs).toISOString();
    const longer = await make({ role: 'admin', expiresAt: later });
    for (const { id, token } of [lasting, longer]) {
      expectProblem(await rotate(id, newKey(), caller), 'insufficient_role');
      expect(await use(token)).toBe(200);
    }
    const own = await rotate(expiring.id, undefined, caller);
    expect(own.body).toMatchObject({ expiresAt: inOneHour, role: 'admin' });
    service.clock.advance(hourMs);
    expectProblem(await manager(service, own.body.token).get('/v1/me'), 'credential_expired');
  });

  it('an admin that is bound to venues rotates tokens of these venues only', async () => {
    const [inside, outside] = [await platform.venue(name()), await platform.venue(name())];
    const bound = await make({ role: 'admin', venueIds: [inside.id] });
    const caller = manager(service, bound.token);
    const mine = await make({ venueIds: [inside.id] });
    expect((await rotate(mine.id, undefined, caller)).body.venueIds).toEqual([inside.id]);
    for (const venueIds of [[outside.id], [inside.id, outside.id], null]) {
      const { id } = await make({ venueIds });
      expectProblem(await rotate(id, undefined, caller), 'token_not_found');
    }
  });

  it('501 not_supported for the token of SIGNAGE_ADMIN_TOKEN: a restart would bring it back', async () => {
    const { tokenId } = (await platform.get('/v1/me')).body;
    expectProblem(await rotate(tokenId, undefined, platform), 'not_supported');
    expect(await use(adminToken)).toBe(200);
  });

  it('the only other platform token can be rotated, and nobody is locked out', async () => {
    const root = await platform.newToken({ name: name(), role: 'platform' });
    const { body } = await rotate(root.id, undefined, manager(service, root.token));
    expect([await use(root.token), await use(body.token)]).toEqual([200, 200]);
    expect((await manager(service, body.token).get('/v1/tenants')).status).toBe(200);
  });

  it('a held answer is not sent to the old secret once the new one was used', async () => {
    const { id, token } = await make();
    const { body } = await rotate(id);
    const tv = await service.tv();
    const held = manager(service, token).get(`/v1/events?deviceId=${tv.deviceId}&waitSeconds=30`);
    await expect.poll(() => service.clock.waitingFor(30_000), { interval: 2 }).toBe(1);
    expect(await use(body.token)).toBe(200);
    expect((await tv.send('POST', 'events', { body: [impression()] })).status).toBe(202);
    expectProblem(await held, 'credential_invalid');
  });
});
