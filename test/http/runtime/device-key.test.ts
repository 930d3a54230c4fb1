import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../../../src/domain/api-key.ts';
import { openStore } from '../../../src/store/open.ts';
import { item } from '../../support/content.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mounted } from '../../support/mounted.ts';
import { expectProblem } from '../../support/problem.ts';
import {
  adminToken,
  type BoundTv,
  type Sent,
  startService,
  type TestService,
} from '../../support/service.ts';
import { snapshot } from '../../support/snapshot.ts';

let service: TestService;
let tv: BoundTv;
beforeAll(async () => {
  service = await startService();
  tv = await service.tv();
  await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, {
    items: [item()],
  });
});

/** All records in the management API, except the times of rejected requests. */
async function withoutRefusals(): Promise<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(await snapshot(service)).replaceAll(/"lastRefusedAt":("[^"]*"|null),/g, ''),
  );
}

const batch = [{ type: 'heartbeat', timestamp: 1760000000 }];

describe.each([
  ['GET', 'playlist', 200, undefined],
  ['GET', 'config', 200, undefined],
  ['POST', 'events', 202, batch],
] as const)('%s /devices/:id/%s', (method, what, success, body) => {
  const call = (id: string, sent: Sent = {}) =>
    service.send(method, `/devices/${id}/${what}`, { body, ...sent });
  const as = (authorization: string): Sent => ({ headers: { authorization } });

  it(`${success} for the screen's id and the device's, in any case`, async () => {
    for (const id of [
      tv.screenId,
      tv.deviceId,
      tv.screenId.toUpperCase(),
      tv.deviceId.toUpperCase(),
    ]) {
      expect((await call(id, { key: tv.apiKey })).status, id).toBe(success);
    }
  });

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  '])(
    `${success} for the scheme "%s"`,
    async (scheme) => {
      expect((await call(tv.screenId, as(`${scheme} ${tv.apiKey}`))).status).toBe(success);
    },
  );

  it('401 device_key_missing without Authorization', async () => {
    const before = await snapshot(service);
    expectProblem(await call(tv.screenId), 401, 'device_key_missing');
    expect(await snapshot(service)).toEqual(before);
  });

  it.each<[string, () => string]>([
    ['an empty header', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the key without a scheme', () => tv.apiKey],
    ['another scheme', () => `Basic ${Buffer.from(`tv:${tv.apiKey}`).toString('base64')}`],
    ['another scheme with the key', () => `Token ${tv.apiKey}`],
    ['a scheme that only begins alike', () => `Bearerx ${tv.apiKey}`],
    [
      'a bad checksum',
      () => `Bearer ${tv.apiKey.slice(0, -1)}${tv.apiKey.endsWith('0') ? '1' : '0'}`,
    ],
    ['two digits swapped', () => `Bearer ${tv.apiKey.replace(/^(dak_.*?)(.)(?!\2)(.)/, '$1$3$2')}`],
    ['the other case', () => `Bearer ${tv.apiKey.toLowerCase()}`],
    ['a key that is cut off', () => `Bearer ${tv.apiKey.slice(0, -1)}`],
    ['a key with something behind it', () => `Bearer ${tv.apiKey}0`],
    ['two keys', () => `Bearer ${tv.apiKey} ${tv.apiKey}`],
    ['a list of keys', () => `Bearer ${tv.apiKey}, Bearer ${tv.apiKey}`],
    ['a good key that nobody was given', () => `Bearer ${makeKey('dak_', randomBytes)}`],
    ['a management token', () => `Bearer ${adminToken}`],
    ['the key with the prefix of a token', () => `Bearer mak_${tv.apiKey.slice(4)}`],
    ['a very long text', () => `Bearer ${'x'.repeat(4000)}`],
  ])('401 device_key_invalid for %s', async (_, authorization) => {
    const before = await snapshot(service);
    expectProblem(await call(tv.screenId, as(authorization())), 401, 'device_key_invalid');
    expect(await snapshot(service)).toEqual(before);
  });

  it('401 device_key_revoked when the device was revoked, whatever the path says', async () => {
    const revoked = await service.tv();
    await service.manage('POST', `/v1/devices/${revoked.deviceId}/revoke`);
    const before = await withoutRefusals();
    for (const id of [revoked.screenId, revoked.deviceId, tv.screenId, 'nonsense']) {
      expectProblem(await call(id, { key: revoked.apiKey }), 401, 'device_key_revoked');
    }
    expect(await withoutRefusals()).toEqual(before);
  });

  it('401 device_key_revoked, not orphaned, even when the screen has another device or was deleted', async () => {
    const revoked = await service.tv();
    await service.manage('POST', `/v1/devices/${revoked.deviceId}/revoke`);
    const next = await service.tv(revoked.screenId);
    expectProblem(await call(revoked.screenId, { key: revoked.apiKey }), 401, 'device_key_revoked');
    expect([200, 202, 404]).toContain((await call(revoked.screenId, { key: next.apiKey })).status);
    expect(
      (await service.manage('DELETE', `/v1/screens/${revoked.screenId}?force=true`)).status,
    ).toBe(204);
    expectProblem(await call(revoked.screenId, { key: revoked.apiKey }), 401, 'device_key_revoked');
    expectProblem(await call(revoked.screenId, { key: next.apiKey }), 401, 'device_key_orphaned');
  });

  it('401 device_key_orphaned when the screen was deleted by force, whatever the path says', async () => {
    const orphan = await service.tv();
    expect(
      (await service.manage('DELETE', `/v1/screens/${orphan.screenId}?force=true`)).status,
    ).toBe(204);
    const before = await snapshot(service);
    for (const id of [orphan.screenId, orphan.deviceId, tv.screenId, 'nonsense']) {
      expectProblem(await call(id, { key: orphan.apiKey }), 401, 'device_key_orphaned');
    }
    expect(await snapshot(service)).toEqual(before);
  });

  it('401 device_key_mismatch alike for a foreign, an unknown and a malformed id', async () => {
    const other = await service.tv();
    const before = await snapshot(service);
    const ids = [
      other.screenId,
      other.deviceId,
      tv.venueId,
      tv.tenantId,
      randomUUID(),
      'nonsense',
      '%20',
      `${tv.screenId}x`,
      '%E0%A4%A',
      'register',
    ];
    const texts = new Set<string>();
    for (const id of ids) {
      const answer = await call(id, { key: tv.apiKey });
      expectProblem(answer, 401, 'device_key_mismatch');
      texts.add(answer.text.replace(answer.body.requestId, ''));
    }
    expect(texts.size).toBe(1);
    expect(await snapshot(service)).toEqual(before);
  });

  it.each<[string, Sent]>([
    ['invalid_request', { body: [] }],
    ['invalid_json', { body: '[' }],
    ['body_too_large', { body: 'x'.repeat(1024 * 1024 + 1) }],
    ['unsupported_media_type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ])('401 wins over %s', async (_, sent) => {
    if (method === 'GET') return;
    expectProblem(
      await service.send(method, `/devices/${tv.screenId}/${what}`, sent),
      401,
      'device_key_missing',
    );
    expectProblem(
      await service.send(method, '/devices/nonsense/events', { ...sent, key: tv.apiKey }),
      401,
      'device_key_mismatch',
    );
  });

  it('405 method_not_allowed with Allow, without a credential', async () => {
    const answer = await service.send('DELETE', `/devices/${tv.screenId}/${what}`);
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(method === 'GET' ? 'GET, HEAD' : 'POST');
  });

  it('404 not_found for a path below or beside it, without a credential', async () => {
    for (const path of [
      `/devices/${tv.screenId}/${what}/`,
      `/devices/${tv.screenId}/${what}/x`,
      `/devices/${tv.screenId}/${what}s`,
      `/devices/${tv.screenId}`,
    ]) {
      expectProblem(await service.send(method, path), 404, 'not_found');
    }
  });
});

describe('a device key with inconsistent records', () => {
  async function bound() {
    const store = await openStore('memory:');
    const service = await mounted({ store, clock: new ManualClock() });
    return { store, service, tv: await service.tv() };
  }

  it('401 device_key_orphaned when the screen has another device', async () => {
    const { store, service, tv } = await bound();
    const screen = (await store.read.get('screens', tv.screenId))!;
    await store.write((tx) => tx.put('screens', { ...screen, deviceId: randomUUID() }));
    expectProblem(
      await service.send('GET', `/devices/${tv.screenId}/config`, { key: tv.apiKey }),
      401,
      'device_key_orphaned',
    );
  });

  it('401 device_key_orphaned when the device was deleted', async () => {
    const { store, service, tv } = await bound();
    await store.write((tx) => tx.delete('devices', tv.deviceId));
    expectProblem(
      await service.send('GET', `/devices/${tv.screenId}/config`, { key: tv.apiKey }),
      401,
      'device_key_orphaned',
    );
  });

  it('503 unavailable when the key cannot be checked', async () => {
    const { store, service, tv } = await bound();
    await store.close();
    expectProblem(
      await service.send('GET', `/devices/${tv.screenId}/config`, { key: tv.apiKey }),
      503,
      'unavailable',
    );
  });
});
