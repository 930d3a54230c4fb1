import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../../../src/domain/api-key.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';
import {
  adminToken,
  type BoundTv,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { snapshot } from '../../support/service/snapshot.ts';
import { wireRequest } from '../../support/service/wire-request.ts';

let service: TestService;
let tv: BoundTv;
beforeAll(async () => {
  service = await startService();
  tv = await service.tv();
});

const call = (id: string, sent: Sent = {}) => service.send('GET', `/devices/${id}/config`, sent);
const as = (authorization: string): Sent => ({ headers: { authorization } });

describe('a device key', () => {
  it('is accepted for the id of the screen and of the device, in any case', async () => {
    for (const id of [tv.screenId, tv.deviceId])
      for (const spelled of [id, id.toUpperCase()])
        expect((await call(spelled, { key: tv.apiKey })).status, spelled).toBe(200);
  });

  it.each(['bearer', 'bEaReR', 'Bearer  '])('is accepted with the scheme "%s"', async (scheme) => {
    expect((await call(tv.screenId, as(`${scheme} ${tv.apiKey}`))).status).toBe(200);
  });

  it.each<[string, (key: string) => string]>([
    ['an empty header', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the key without a scheme', (key) => key],
    ['Basic credentials', (key) => `Basic ${Buffer.from(`tv:${key}`).toString('base64')}`],
    ['another scheme with the key', (key) => `Token ${key}`],
    ['a scheme that only begins alike', (key) => `Bearerx ${key}`],
    ['a wrong checksum', (key) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['swapped digits', (key) => `Bearer ${key.replace(/^(dak_.*?)(.)(?!\2)(.)/, '$1$3$2')}`],
    ['the other case', (key) => `Bearer ${key.toLowerCase()}`],
    ['a truncated key', (key) => `Bearer ${key.slice(0, -1)}`],
    ['a key with something behind it', (key) => `Bearer ${key}0`],
    ['two keys', (key) => `Bearer ${key} ${key}`],
    ['a list of keys', (key) => `Bearer ${key}, Bearer ${key}`],
    ['a well-formed key that was never issued', () => `Bearer ${makeKey('dak_', randomBytes)}`],
    ['a management token', () => `Bearer ${adminToken}`],
    ['the key with the prefix of a token', (key) => `Bearer mak_${key.slice(4)}`],
    ['a very long text', () => `Bearer ${'x'.repeat(4000)}`],
  ])('401 device_key_invalid for %s', async (_, authorization) => {
    const answer = await call(tv.screenId, as(authorization(tv.apiKey)));
    expectProblem(answer, 401, 'device_key_invalid');
  });

  it('401 device_key_revoked, not orphaned, even when the screen has another device or was deleted', async () => {
    const revoked = await service.tv();
    await service.manage('POST', `/v1/devices/${revoked.deviceId}/revoke`);
    const next = await service.tv(revoked.screenId);
    const ask = (key: string) => call(revoked.screenId, { key });
    expectProblem(await ask(revoked.apiKey), 401, 'device_key_revoked');
    expect((await ask(next.apiKey)).status).toBe(200);
    const path = `/v1/screens/${revoked.screenId}?force=true`;
    expect((await service.manage('DELETE', path)).status).toBe(204);
    expectProblem(await ask(revoked.apiKey), 401, 'device_key_revoked');
    const before = await snapshot(service);
    for (const id of [next.screenId, next.deviceId, tv.screenId, 'nonsense'])
      expectProblem(await call(id, { key: next.apiKey }), 401, 'device_key_orphaned');
    expect(await snapshot(service)).toEqual(before);
  });

  it('401 device_key_mismatch alike for a foreign, an unknown and a malformed id', async () => {
    const other = await service.tv();
    const before = await snapshot(service);
    const foreign = [other.screenId, other.deviceId, tv.venueId, tv.tenantId, randomUUID()];
    const malformed = ['nonsense', '%20', `${tv.screenId}x`, '%E0%A4%A', 'register'];
    const texts = new Set<string>();
    for (const id of [...foreign, ...malformed]) {
      const answer = await call(id, { key: tv.apiKey });
      expectProblem(answer, 401, 'device_key_mismatch');
      texts.add(answer.text.replace(answer.body.requestId, ''));
    }
    expect(texts.size).toBe(1);
    expect(await snapshot(service)).toEqual(before);
  });

  it('is checked for every request of a connection, also after another key', async () => {
    const [one, other] = [await service.tv(), await service.tv()];
    const codeFor = async ({ screenId }: BoundTv, apiKey?: string) => {
      const key = apiKey === undefined ? [] : ['Authorization', `Bearer ${apiKey}`];
      const headers = ['Host', 'signage.example', ...key];
      const path = `/devices/${screenId}/config`;
      const { text } = await wireRequest(service.url, { method: 'GET', path, headers });
      return JSON.parse(text).code ?? 'accepted';
    };
    for (const bound of [one, one, other, one])
      expect(await codeFor(bound, bound.apiKey)).toBe('accepted');
    expect(await codeFor(one, other.apiKey)).toBe('device_key_mismatch');
    expect(await codeFor(one)).toBe('device_key_missing');
    for (let repeat = 0; repeat < 2; repeat++)
      expect(await codeFor(one, `${one.apiKey}x`)).toBe('device_key_invalid');
    expect(await codeFor(one, one.apiKey)).toBe('accepted');
    await service.manage('POST', `/v1/devices/${one.deviceId}/revoke`);
    expect(await codeFor(one, one.apiKey)).toBe('device_key_revoked');
    expect(await codeFor(other, other.apiKey)).toBe('accepted');
  });
});

describe('a device key with inconsistent records', () => {
  async function bound() {
    const store = await openStore('memory:');
    const { send, tv: newTv } = await mounted({ store, clock: new ManualClock() });
    const { screenId, deviceId, apiKey } = await newTv();
    return {
      store,
      screenId,
      deviceId,
      answer: () => send('GET', `/devices/${screenId}/config`, { key: apiKey }),
    };
  }

  it('401 device_key_orphaned when the screen has another device', async () => {
    const { store, screenId, answer } = await bound();
    const screen = (await store.read.get('screens', screenId))!;
    await store.write((tx) => tx.put('screens', { ...screen, deviceId: randomUUID() }));
    expectProblem(await answer(), 401, 'device_key_orphaned');
  });

  it('401 device_key_orphaned when the device was deleted', async () => {
    const { store, deviceId, answer } = await bound();
    await store.write((tx) => tx.delete('devices', deviceId));
    expectProblem(await answer(), 401, 'device_key_orphaned');
  });

  it('503 unavailable when the key cannot be checked', async () => {
    const { store, answer } = await bound();
    await store.close();
    expectProblem(await answer(), 503, 'unavailable');
  });
});
