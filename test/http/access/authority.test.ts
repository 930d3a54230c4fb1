// Credentials that are revoked during a request: while its body arrives, or while its response is
// held.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { impression, item } from '../../support/service/content.ts';
import { type LateRequest, lateRequest } from '../../support/service/late-request.ts';
import { type Manager, manager, walk } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let platform: Manager;
beforeAll(async () => {
  service = await startService();
  platform = manager(service);
});

/** Returns a new token, its id, and when it was last used. */
async function newToken(role: string, more: object = {}) {
  const { id, token } = (await platform.post('/v1/tokens', { name: randomUUID(), role, ...more }))
    .body;
  const lastUsed = async () => (await platform.get(`/v1/tokens/${id}`)).body.lastUsedAt;
  return {
    id,
    token,
    lastUsed,
    end: async () => expect((await platform.delete(`/v1/tokens/${id}`)).status).toBe(204),
  };
}

/** Sends half of a request, and resolves when the service has authenticated it. */
async function halfSent(sent: LateRequest, lastUsed: () => Promise<unknown>) {
  const before = await lastUsed();
  service.clock.advance(1);
  const late = lateRequest(service.url, sent);
  await expect.poll(lastUsed, { interval: 2 }).not.toBe(before);
  return late;
}

const refusal = ({ status, body }: { status: number; body: { code?: string } | undefined }) => [
  status,
  body?.code,
];

describe.each([
  ['announced', false],
  ['sent in chunks', true],
])('a body that arrives late, %s', (_, chunked) => {
  const idOf: Record<string, () => Promise<string>> = {
    screens: async () => (await service.screen()).id,
    devices: async () => (await service.tv()).deviceId,
  };

  it.each<[string, string, string, () => object]>([
    ['POST', '/v1/tokens', 'admin', () => ({ name: randomUUID(), role: 'admin' })],
    ['POST', '/v1/venues', 'operator', () => ({ name: randomUUID() })],
    ['PUT', '/v1/screens/:id/playlist', 'operator', () => ({ items: [item()] })],
    ['POST', '/v1/devices/:id/revoke', 'installer', () => ({ reason: 'late' })],
  ])(
    '401 for %s %s when its token was deleted meanwhile, and nothing is done',
    async (method, route, role, body) => {
      const { id, token, lastUsed, end } = await newToken(role);
      const record = (await idOf[route.split('/')[2]!]?.()) ?? '';
      const path = route.replace(':id', record);
      const sent = { method, path, body: body(), key: token, chunked };
      const { finish } = await halfSent(sent, lastUsed);
      await end();
      expect(refusal(await finish())).toEqual([401, 'credential_invalid']);
      const { items } = await walk(platform, '/v1/audit', 200);
      expect(items.filter(({ actor }) => actor.id === id)).toEqual([]);
    },
  );

  it('401 before the body is validated', async () => {
    const { token, lastUsed, end } = await newToken('admin');
    const { finish } = await halfSent(
      { method: 'POST', path: '/v1/tokens', key: token, body: 'no token at all', chunked },
      lastUsed,
    );
    await end();
    expect(refusal(await finish())).toEqual([401, 'credential_invalid']);
  });

  it('401 credential_expired when its token has expired meanwhile', async () => {
    const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
    const { token, lastUsed } = await newToken('operator', { expiresAt });
    const { finish } = await halfSent(
      { method: 'POST', path: '/v1/venues', key: token, body: { name: 'Too late' }, chunked },
      lastUsed,
    );
    service.clock.advance(60_000);
    expect(refusal(await finish())).toEqual([401, 'credential_expired']);
    expect((await platform.get('/v1/venues?name=Too%20late')).body.items).toEqual([]);
  });

  /** Half a batch of a new TV. */
  async function halfBatch() {
    const tv = await service.tv();
    const seen = async () => (await platform.get(`/v1/devices/${tv.deviceId}`)).body.lastSeenAt;
    const path = `/devices/${tv.screenId}/events`;
    const sent = { method: 'POST', path, key: tv.apiKey, body: [impression()], chunked };
    return { tv, finish: (await halfSent(sent, seen)).finish };
  }

  it.each<[string, (tv: BoundTv) => Promise<{ status: number }>]>([
    ['revoked', ({ deviceId }) => platform.post(`/v1/devices/${deviceId}/revoke`, {})],
    ['orphaned', ({ screenId }) => platform.delete(`/v1/screens/${screenId}?force=true`)],
  ])('401 for a batch of a TV that was %s meanwhile, and nothing is stored', async (why, end) => {
    const { tv, finish } = await halfBatch();
    expect((await end(tv)).status).toBeLessThan(300);
    expect(refusal(await finish())).toEqual([401, `device_key_${why}`]);
    expect((await platform.get(`/v1/events?deviceId=${tv.deviceId}`)).body.items).toEqual([]);
  });

  it('202 and 201 while the credential is valid', async () => {
    expect((await (await halfBatch()).finish()).status).toBe(202);
    const { token, lastUsed } = await newToken('operator');
    const body = { name: randomUUID() };
    const sent = { method: 'POST', path: '/v1/venues', key: token, body, chunked };
    expect((await (await halfSent(sent, lastUsed)).finish()).status).toBe(201);
  });
});

describe('a long poll', () => {
  const held: [string, () => Promise<string>, () => Promise<unknown>][] = (() => {
    let made: { code: string };
    let tv: Awaited<ReturnType<TestService['tv']>>;
    return [
      [
        'of a code',
        async () => {
          made = await service.code();
          return `/v1/devices/provisioning-codes/${made.code}/status?waitSeconds=30`;
        },
        () => service.register(made.code),
      ],
      [
        'of events',
        async () => {
          tv = await service.tv();
          return `/v1/events?deviceId=${tv.deviceId}&waitSeconds=30`;
        },
        () => tv.send('POST', 'events', { body: [impression()] }),
      ],
    ] satisfies [string, () => Promise<string>, () => Promise<unknown>][];
  })();

  async function hold(path: string, token: string) {
    const waiting = service.clock.waitingFor(30_000);
    const answer = manager(service, token).get(path);
    await expect.poll(() => service.clock.waitingFor(30_000), { interval: 2 }).toBe(waiting + 1);
    return { answer };
  }

  describe.each(held)('%s', (_, path, settle) => {
    it('401 when its token was deleted, at the end of the wait', async () => {
      const { token, end } = await newToken('viewer');
      const { answer } = await hold(await path(), token);
      await end();
      service.clock.advance(30_000);
      expect(refusal(await answer)).toEqual([401, 'credential_invalid']);
    });

    it('401 when its token has expired meanwhile', async () => {
      const { token } = await newToken('viewer', {
        expiresAt: new Date(service.clock.now() + 10_000).toISOString(),
      });
      const { answer } = await hold(await path(), token);
      service.clock.advance(10_000);
      await settle();
      expect(refusal(await answer)).toEqual([401, 'credential_expired']);
    });
  });
});
