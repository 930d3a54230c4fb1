import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let platform: Manager;
let admin: Manager;
let tenantId: string;
let count = 0;
const fresh = () => `Token ${++count}`;
const named = async (name: string) =>
  (await platform.get(`/v1/tokens?name=${encodeURIComponent(name)}`)).body.items;
const _tokenMembers = [
  'createdAt',
  'expiresAt',
  'id',
  'lastUsedAt',
  'name',
  'role',
  'tenantId',
  'venueIds',
];

beforeAll(async () => {
  service = await startService();
  tenantId = (await manager(service).get('/v1/me')).body.tenantId;
  platform = manager(service).in(tenantId);
  admin = await platform.as('admin');
});

describe('POST /v1/tokens', () => {
  it('201 for a platform token that creates a platform token, which belongs to no tenant', async () => {
    const { body } = await platform.post('/v1/tokens', { name: fresh(), role: 'platform' });
    expect(body).toMatchObject({ tenantId: null, role: 'platform' });
    expect((await manager(service, body.token).get('/v1/tenants')).status).toBe(200);
  });

  it.each(['platform', 'backup'])(
    '403 insufficient_role when an admin requests a %s token, and none is created',
    async (role) => {
      const name = fresh();
      expectProblem(await admin.post('/v1/tokens', { name, role }), 'insufficient_role');
      expect(await named(name)).toEqual([]);
    },
  );

  it('201 with the venues in lower case, each once', async () => {
    const [one, other] = [await platform.venue(fresh()), await platform.venue(fresh())];
    const creation = {
      name: fresh(),
      role: 'installer',
      venueIds: [other.id.toUpperCase(), one.id, other.id],
    };
    expect((await admin.newToken(creation)).venueIds).toEqual([other.id, one.id]);
  });

  it('400 for an expiry that is not in the future, and none is created', async () => {
    const name = fresh();
    for (const expiresAt of [-1, 0].map((ms) => new Date(service.clock.now() + ms).toISOString()))
      expectInvalid(
        await admin.post('/v1/tokens', { name, role: 'viewer', expiresAt }),
        '/expiresAt',
      );
    expect(await named(name)).toEqual([]);
  });

  it('404 venue_not_found for an unknown venue and for another tenant’s, alike, and none is created', async () => {
    const other = await platform.tenant(fresh());
    const foreign = (await platform.in(other.id).venue(fresh())).id;
    const own = (await admin.post('/v1/venues', { name: fresh() })).body.id;
    const name = fresh();
    const answers = await Promise.all(
      [foreign, unknownId].map((id) =>
        admin.post('/v1/tokens', { name, role: 'viewer', venueIds: [own, id] }),
      ),
    );
    for (const answer of answers) {
      expectProblem(answer, 'venue_not_found');
      expect({ ...answer.body, requestId: '' }).toEqual({ ...answers[0]!.body, requestId: '' });
    }
    expect(await named(name)).toEqual([]);
  });

  it('201 for a name that is taken in another tenant', async () => {
    const { name } = await admin.newToken({ name: fresh(), role: 'viewer' });
    const elsewhere = platform.in((await platform.tenant(fresh())).id);
    expect((await elsewhere.newToken({ name, role: 'viewer' })).name).toBe(name);
  });
});

describe('a token created by an expiring token', () => {
  const atMs = (ms: number) => new Date(service.clock.now() + ms).toISOString();
  const made = async (by: Manager, more: object) => {
    const { status, body } = await by.post('/v1/tokens', {
      name: fresh(),
      role: 'viewer',
      ...more,
    });
    expect(status).toBe(201);
    return body;
  };

  it.each(['admin', 'platform'])(
    '201 by a token of the role %s, and expires no later',
    async (role) => {
      const [soon, end, later] = [3_599_999, 3_600_000, 3_600_001].map(atMs);
      const maker = manager(
        service,
        (await made(platform, { role, expiresAt: end })).token,
        tenantId,
      );
      for (const [asked, given] of [
        [{}, end],
        [{ expiresAt: null }, end],
        [{ expiresAt: later }, end],
        [{ expiresAt: soon }, soon],
      ]) {
        const one = await made(maker, { role, ...(asked as object) });
        expect(one.expiresAt).toBe(given);
        expect((await platform.get(`/v1/tokens/${one.id}`)).body.expiresAt).toBe(given);
      }
    },
  );
});

describe('GET /v1/tokens', () => {
  it("200 with the platform's own beside them, for a platform token", async () => {
    const { items } = await walk(platform, '/v1/tokens', 2);
    expect(items.filter((token) => token.tenantId === null).map(({ role }) => role)).toContain(
      'platform',
    );
    expect(items.filter((token) => token.tenantId !== null)).toEqual(
      (await walk(admin, '/v1/tokens', 200)).items,
    );
  });
});

describe('GET /v1/tokens/:id', () => {
  it('200 with lastUsedAt once it was used', async () => {
    const { id, token } = (await admin.post('/v1/tokens', { name: fresh(), role: 'viewer' })).body;
    expect((await admin.get(`/v1/tokens/${id}`)).body.lastUsedAt).toBeNull();
    service.clock.advance(60_000);
    await manager(service, token).get('/v1/me');
    expect((await admin.get(`/v1/tokens/${id}`)).body.lastUsedAt).toBe(
      new Date(service.clock.now()).toISOString(),
    );
  });
});

describe('DELETE /v1/tokens/:id', () => {
  it('204 for the token itself', async () => {
    const own = await admin.as('admin');
    const { tokenId } = (await own.get('/v1/me')).body;
    expect((await own.delete(`/v1/tokens/${tokenId}`)).status).toBe(204);
    expectProblem(await own.get('/v1/me'), 'credential_invalid');
  });

  it('404 for a platform token, for an admin, and it keeps working', async () => {
    const { tokenId } = (await manager(service).get('/v1/me')).body;
    expectProblem(await admin.delete(`/v1/tokens/${tokenId}`), 'token_not_found');
    expect((await manager(service).get('/v1/me')).status).toBe(200);
  });
});

describe('a token that expires', () => {
  const hourMs = 3_600_000;
  const brief = (role: string) =>
    platform.newToken({
      name: fresh(),
      role,
      expiresAt: new Date(service.clock.now() + hourMs).toISOString(),
    });

  it.each(['viewer', 'platform'])('works until the last millisecond as %s', async (role) => {
    const caller = manager(service, (await brief(role)).token);
    service.clock.advance(hourMs - 1);
    expect((await caller.get('/v1/me')).status).toBe(200);
    service.clock.advance(1);
    expectProblem(await caller.get('/v1/me'), 'credential_expired');
  });

  it('stays in the list and keeps its name until it is deleted', async () => {
    const { id, name, token } = await brief('viewer');
    service.clock.advance(hourMs);
    expect(await named(name)).toHaveLength(1);
    expectProblem(await admin.post('/v1/tokens', { name, role: 'viewer' }), 'name_taken', {
      existingId: id,
    });
    expect((await admin.delete(`/v1/tokens/${id}`)).status).toBe(204);
    expectProblem(await manager(service, token).get('/v1/me'), 'credential_invalid');
  });

  it('does not make its address trusted: 429 as for a stranger', async () => {
    const own = await startService();
    const { token } = await manager(own).newToken({
      name: fresh(),
      role: 'viewer',
      expiresAt: '2026-11-21',
    });
    own.clock.advance(48 * hourMs);
    expectProblem(await manager(own, token).get('/v1/me'), 'credential_expired');
    for (let n = 0; n < 10; n++) expect((await own.register(`AAAAAAA${n}`)).status).toBe(404);
    expect((await own.register('AAAAAAAA')).status).toBe(429);
  });
});

describe('the last platform token', () => {
  let last: Manager;

  beforeEach(async () => {
    service = await startService();
    last = manager(service);
  });

  it('409 last_token, and it keeps working', async () => {
    const { tokenId } = (await last.get('/v1/me')).body;
    expectProblem(await last.delete(`/v1/tokens/${tokenId}`), 'last_token');
    expect((await last.get('/v1/me')).status).toBe(200);
    const other = await last.as('platform');
    expect((await other.delete(`/v1/tokens/${tokenId}`)).status).toBe(204);
    expectProblem(await last.get('/v1/me'), 'credential_invalid');
  });

  it('409 for one when the last two are deleted simultaneously', async () => {
    const other = await last.as('platform');
    const ids = await Promise.all(
      [last, other].map(async (one) => (await one.get('/v1/me')).body.tokenId),
    );
    const answers = await Promise.all([
      last.delete(`/v1/tokens/${ids[1]}`),
      other.delete(`/v1/tokens/${ids[0]}`),
    ]);
    const statuses = answers.map(({ status }) => status).toSorted();
    // The slower request may find its own token deleted.
    expect([
      [204, 409],
      [204, 401],
    ]).toContainEqual(statuses);
  });

  it('409 if all others expire or have expired: one without expiry must stay', async () => {
    const { tokenId } = (await last.get('/v1/me')).body;
    const inAnHour = new Date(service.clock.now() + 3_600_000).toISOString();
    const brief = (
      await last.post('/v1/tokens', { name: 'For today', role: 'platform', expiresAt: inAnHour })
    ).body;
    expectProblem(
      await manager(service, brief.token).delete(`/v1/tokens/${tokenId}`),
      'last_token',
    );
    service.clock.advance(3_600_000);
    expectProblem(await last.delete(`/v1/tokens/${tokenId}`), 'last_token');
    expect((await last.delete(`/v1/tokens/${brief.id}`)).status).toBe(204);
    expect((await last.get('/v1/me')).status).toBe(200);
  });

  it('204 for the last admin: only platform tokens are counted', async () => {
    const lone = await last.as('admin');
    expect(
      (await lone.delete(`/v1/tokens/${(await lone.get('/v1/me')).body.tokenId}`)).status,
    ).toBe(204);
  });
});
