import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import {
  hangUp,
  json,
  problem,
  raw,
  type StubService,
  silence,
  stubService,
} from '../support/network/stub-service.ts';
import { hastyClock } from '../support/runtime/hasty-clock.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';

const apiKey = `dak_${'k'.repeat(49)}`;
const screenId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const config = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};
const registered = { deviceId: 'd', screenId, apiKey, tenantId: 't', config };
const playlist = {
  id: 'p',
  tenantId: 't',
  screenId,
  status: 'active',
  version: 3,
  validUntil: 1,
  items: [],
};
const registration = { pairingCode: 'ABCD2345', deviceInfo: { model: 'TV' } };
let stub: StubService;

async function clientOf(...answers: Parameters<typeof stubService>) {
  stub = await stubService(...answers);
  return new RuntimeClient({ url: stub.url, clock: hastyClock() });
}

describe('register', () => {
  it('sends no credential, and the same new Idempotency-Key on every attempt', async () => {
    const client = await clientOf(hangUp, json(201, registered));
    expect(await client.register(registration)).toEqual(registered);
    const keys = stub.heard.map((one) => one.headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(stub.heard[1]?.body).toBe(stub.heard[0]?.body);
    expect(stub.heard[0]?.headers).not.toHaveProperty('authorization');
  });

  it('uses a new Idempotency-Key for each registration, unless one is given', async () => {
    const client = await clientOf(json(201, registered));
    await client.register(registration);
    await client.register(registration);
    await client.register(registration, { idempotencyKey: 'a-key-of-my-own-1' });
    const keys = stub.heard.map((one) => one.headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('a-key-of-my-own-1');
  });

  it('does not retry a wrong code', async () => {
    const client = await clientOf(problem(404, 'pairing_code_not_found', 'No such code.'));
    await expect(client.register(registration)).rejects.toMatchObject({
      code: 'pairing_code_not_found',
    });
    expect(stub.heard).toHaveLength(1);
  });

  it('rejects a response without a key', async () => {
    const client = await clientOf(json(201, { ...registered, apiKey: undefined }));
    await expect(client.register(registration)).rejects.toMatchObject({
      code: 'unexpected_answer',
      message: expect.stringContaining('apiKey'),
    });
  });
});

describe('fetchChanges', () => {
  it('rejects when there is no answer 10 seconds after the wait', async () => {
    const clock = new ManualClock();
    stub = await stubService(silence);
    const client = new RuntimeClient({ url: stub.url, clock, timeoutMs: 120_000 });
    const answer = client.fetchChanges(screenId, { after: 'x', waitSeconds: 100 });
    const error = answer.catch((thrown) => thrown);
    await expect.poll(() => stub.heard.length).toBe(1);
    clock.advance(109_999);
    expect(await Promise.race([error, sleep(50, 'still waiting')])).toBe('still waiting');
    clock.advance(1);
    expect(await error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('within 110 seconds'),
    });
  });
});

describe('rotateKey', () => {
  it('sends the device key, and the same new Idempotency-Key on every attempt', async () => {
    const client = (await clientOf(hangUp, json(201, { apiKey: 'dak_next' }))).withKey(apiKey);
    expect(await client.rotateKey(screenId)).toBe('dak_next');
    const [first, second] = stub.heard;
    expect([second?.method, second?.url]).toEqual(['POST', `/devices/${screenId}/keys/rotate`]);
    expect(second?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(second?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(second?.body).toBe('');
  });

  it('uses the given Idempotency-Key and number of attempts', async () => {
    const client = (await clientOf(hangUp, json(201, { apiKey: 'dak_next' }))).withKey(apiKey);
    const once = { idempotencyKey: 'a-key-of-my-own-1', attempts: 1 };
    await expect(client.rotateKey(screenId, once)).rejects.toMatchObject({ code: 'unreachable' });
    expect(await client.rotateKey(screenId, once)).toBe('dak_next');
    expect(stub.heard.map((one) => one.headers['idempotency-key'])).toEqual([
      'a-key-of-my-own-1',
      'a-key-of-my-own-1',
    ]);
  });

  it('does not retry with a revoked key, and rejects a response without a key', async () => {
    const dead = (await clientOf(problem(401, 'device_key_revoked', 'It was revoked.'))).withKey(
      apiKey,
    );
    await expect(dead.rotateKey(screenId)).rejects.toMatchObject({ code: 'device_key_revoked' });
    expect(stub.heard).toHaveLength(1);
    const silent = (await clientOf(json(201, {}))).withKey(apiKey);
    await expect(silent.rotateKey(screenId)).rejects.toMatchObject({ code: 'unexpected_answer' });
  });
});

describe('fetchPlaylist and fetchConfig', () => {
  it('send the key, and return ETag and source', async () => {
    const client = await clientOf(json(200, playlist, { etag: '"3"', 'x-source': 'store' }));
    const fetched = await client.withKey(apiKey).fetchPlaylist(screenId);
    expect(fetched).toEqual({
      answer: playlist,
      etag: '"3"',
      source: 'store',
      answeredAtMs: expect.any(Number),
    });
    expect(stub.heard[0]).toMatchObject({
      url: `/devices/${screenId}/playlist`,
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(stub.heard[0]?.headers).not.toHaveProperty('if-none-match');
  });

  it('return no body after a 304', async () => {
    const client = await clientOf(raw(304, '', { etag: '"3"', 'x-config-source': 'default' }));
    const fetched = await client.withKey(apiKey).fetchConfig(screenId, { etag: '"3"' });
    expect(fetched).toEqual({
      answer: undefined,
      etag: '"3"',
      source: 'default',
      answeredAtMs: expect.any(Number),
    });
    expect(stub.heard[0]?.headers['if-none-match']).toBe('"3"');
  });

  it('return no ETag after a response without one', async () => {
    const client = await clientOf(json(200, config));
    expect(
      (await client.withKey(apiKey).fetchConfig(screenId, { etag: '"old"' })).etag,
    ).toBeUndefined();
  });

  it('return the time of the response by the clock of the service', async () => {
    const client = await clientOf(json(200, config, { date: 'Fri, 20 Nov 2026 12:00:00 GMT' }));
    expect((await client.withKey(apiKey).fetchConfig(screenId)).answeredAtMs).toBe(
      Date.UTC(2026, 10, 20, 12),
    );
    const vague = await clientOf(json(200, config, { date: 'soon' }));
    expect((await vague.withKey(apiKey).fetchConfig(screenId)).answeredAtMs).toBeUndefined();
  });

  it('share connections between clients with different keys', async () => {
    stub = await stubService(json(200, config));
    let made = 0;
    const makeRequester = async () => {
      made++;
      return makeUndiciRequester(undefined);
    };
    const anyone = new RuntimeClient({ url: stub.url, makeRequester });
    await anyone.withKey(apiKey).fetchConfig(screenId);
    await anyone.withKey(apiKey.replaceAll('k', 'l')).fetchConfig(screenId);
    expect(made).toBe(1);
    expect(new Set(stub.heard.map(({ headers }) => headers.authorization)).size).toBe(2);
  });

  it('leave no listener on a long-lived signal', async () => {
    const client = (await clientOf(json(200, config))).withKey(apiKey);
    const { signal } = new AbortController();
    for (let call = 0; call < 20; call++) await client.fetchConfig(screenId, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('reject a 304 to an unconditional request', async () => {
    const client = await clientOf(raw(304, ''));
    await expect(client.withKey(apiKey).fetchPlaylist(screenId)).rejects.toMatchObject({
      code: 'unexpected_answer',
    });
  });

  it('retry after a 500 with Retry-After', async () => {
    const client = await clientOf(
      problem(500, 'config_fetch_failed', 'Later.', {}, { 'retry-after': '5' }),
      json(200, config),
    );
    expect((await client.withKey(apiKey).fetchConfig(screenId)).answer).toEqual(config);
  });

  it('reject a playlist without items', async () => {
    const client = await clientOf(json(200, { ...playlist, items: 'none' }));
    await expect(client.withKey(apiKey).fetchPlaylist(screenId)).rejects.toMatchObject({
      code: 'unexpected_answer',
    });
  });
});

describe('postEvents', () => {
  const events = [{ type: 'heartbeat', timestamp: 1_760_000_000 }];

  it('sends the same bytes with the same key until there is a response', async () => {
    const client = await clientOf(hangUp, raw(502, 'Bad gateway'), json(202, { received: 1 }));
    expect(await client.withKey(apiKey).postEvents(screenId, events)).toBe(1);
    expect(
      new Set(stub.heard.map((one) => `${one.headers['idempotency-key']} ${one.body}`)).size,
    ).toBe(1);
    expect(stub.heard).toHaveLength(3);
  });

  it('keeps all members of an error', async () => {
    const errors = [{ path: '/0/timestamp', message: 'must not be negative' }];
    const client = await clientOf(problem(400, 'invalid_request', 'No.', { errors }));
    await expect(client.withKey(apiKey).postEvents(screenId, events)).rejects.toMatchObject({
      code: 'invalid_request',
      errors,
    });
    expect(stub.heard).toHaveLength(1);
  });
});

it('shows no key when it is inspected', async () => {
  const client = (await clientOf()).withKey(apiKey);
  const { inspect } = await import('node:util');
  expect(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)).not.toContain(
    apiKey,
  );
});
