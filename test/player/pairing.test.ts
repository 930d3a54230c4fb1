import { beforeAll, describe, expect, it } from 'vitest';
import type { Requester } from '../../src/client/requester.ts';
import { type Clock, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { type PlayerMemory, type PlayerState, ramMemory } from '../../src/player/state.ts';
import {
  hangUp,
  json,
  problem,
  type StubService,
  stubService,
} from '../support/network/stub-service.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { registered } from '../support/service/tv-place.ts';
import { virtualTv } from '../support/tv/virtual-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const registrations = (stub: StubService) =>
  stub.heard.filter(({ url }) => url === '/devices/register');
const keysOf = (stub: StubService) =>
  registrations(stub).map(({ headers }) => headers['idempotency-key']);

/** A memory that records each save. */
function watchedMemory(look: (state: PlayerState) => void): PlayerMemory {
  const inner = ramMemory();
  return {
    load: inner.load,
    async save(state) {
      await inner.save(state);
      look(state);
    },
  };
}

describe('A player without a key', () => {
  it('registers with code and device info, and saves the key before using it', async () => {
    const { code, screenId } = await service.code();
    const order: string[] = [];
    const memory = watchedMemory(({ binding, registering }) => {
      const what = binding ? 'key saved' : registering && 'registration saved';
      if (what && order.at(-1) !== what) order.push(what);
    });
    const wire =
      (send: Requester): Requester =>
      (url, parts) => {
        order.push(`${parts.method} ${url.split('/').at(-1)}`);
        return send(url, parts);
      };
    const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C', macAddress: '02:00:5E:10:00:01' };
    const tv = virtualTv({
      url: service.url,
      memory,
      wire,
      deviceInfo,
      nextCode: async () => code,
    });
    expect(await tv.player.run(undefined, secondMs)).toEqual({ reason: 'stopped' });
    expect(order.slice(0, 4)).toEqual([
      'registration saved',
      'POST register',
      'key saved',
      'GET config',
    ]);
    const { binding } = (await memory.load()) as PlayerState;
    expect(binding).toMatchObject({
      screenId,
      deviceId: tv.player.state.deviceId,
      apiKey: expect.stringMatching(/^dak_/),
    });
    expect(
      (await service.manage('GET', `/v1/devices/${binding?.deviceId}`)).body.deviceInfo,
    ).toMatchObject(deviceInfo);
    expect(tv.told.bound).toEqual([
      { deviceId: binding?.deviceId, screenId, tenantId: binding?.tenantId },
    ]);
    expect((await memory.load())?.registering).toBeUndefined();
  });

  it('retries a registration after a lost response with the same Idempotency-Key, and is bound once', async () => {
    const { code, screenId } = await service.code();
    let lost = 2;
    const wire =
      (send: Requester): Requester =>
      async (url, parts) => {
        const reply = await send(url, parts);
        if (!url.endsWith('/register') || lost-- <= 0) return reply;
        for await (const _ of reply.body);
        throw new Error('The answer was lost.');
      };
    const tv = virtualTv({ url: service.url, wire, nextCode: async () => code });
    await tv.player.run(undefined, minuteMs);
    expect(tv.pace('registerDevice').map((one) => one.split(' ')[1])).toEqual([
      'unreachable',
      'unreachable',
      '201',
    ]);
    expect(tv.told.phases.slice(0, 5)).toEqual([
      'registering',
      'unpaired',
      'registering',
      'unpaired',
      'registering',
    ]);
    const devices = (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body.items;
    expect(devices.map((one: { id: string }) => one.id)).toEqual([tv.player.state.deviceId]);
  });

  it('resumes the registration after a power cut without asking for a code', async () => {
    const stub = await stubService(hangUp);
    const memory = ramMemory();
    const cut = new AbortController();
    const first = virtualTv({
      url: stub.url,
      memory,
      nextCode: async () => 'ABCD2345',
      observer: { onAnswer: () => cut.abort() },
    });
    expect(await first.player.run(cut.signal)).toEqual({ reason: 'aborted' });
    stub.answers = [json(201, registered), problem(503, 'unavailable', 'No.')];
    const second = virtualTv({ url: stub.url, memory });
    await second.player.run(undefined, secondMs);
    expect(second.player.state).toMatchObject({
      deviceId: 'device',
      screenId: 'screen',
      tenantId: 'tenant',
    });
    const [before, after] = keysOf(stub);
    expect(after).toBe(before);
    expect(registrations(stub)).toHaveLength(2);
  });

  it.each([
    [400, 'invalid_request'],
    [404, 'pairing_code_not_found'],
    [409, 'pairing_code_used'],
    [410, 'pairing_code_expired'],
    [410, 'pairing_code_cancelled'],
  ])('asks for another code after %i %s, with a new Idempotency-Key', async (status, code) => {
    const stub = await stubService(
      problem(status, code, 'No.'),
      json(201, registered),
      problem(503, 'unavailable', 'No.'),
    );
    const asked: unknown[] = [];
    const codes = ['ABCD2345', 'WXYZ6789'];
    const nextCode = async (why: string, error: { code: string } | undefined) => {
      asked.push([why, error?.code]);
      return codes.shift();
    };
    const tv = virtualTv({ url: stub.url, nextCode });
    await tv.player.run(undefined, secondMs);
    expect(asked).toEqual([
      ['new', undefined],
      ['refused', code],
    ]);
    expect(registrations(stub).map(({ body }) => JSON.parse(body).pairingCode)).toEqual([
      'ABCD2345',
      'WXYZ6789',
    ]);
    const [first, second] = keysOf(stub);
    expect(second).not.toBe(first);
  });

  it('asks for another code at once when one that is delayed is withdrawn', async () => {
    const later = problem(429, 'too_many_attempts', 'No.', {}, { 'retry-after': '900' });
    const stub = await stubService(later, later, json(201, registered));
    const codes = ['ABCD2345', 'ABCD2345', 'WXYZ6789'];
    const tv = virtualTv({ url: stub.url, nextCode: async () => codes.shift() });
    tv.at(secondMs, () => tv.player.withdrawCode());
    tv.at(2 * secondMs, () => tv.player.withdrawCode());
    await tv.player.run(undefined, 3 * secondMs);
    expect(tv.player.state.deviceId).toBe('device');
    const [first, again, other] = keysOf(stub);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('ends if there is no code, with the error of the last one', async () => {
    const tv = virtualTv({
      url: service.url,
      nextCode: async (why) => (why === 'new' ? 'ABCD2345' : undefined),
    });
    expect(await tv.player.run()).toMatchObject({
      reason: 'unpaired',
      why: 'refused',
      error: { code: 'pairing_code_not_found' },
    });
    expect(await virtualTv({ url: service.url }).player.run()).toEqual({
      reason: 'unpaired',
      why: 'new',
      error: undefined,
    });
  });

  it.each([
    [
      '429 after Retry-After',
      problem(429, 'too_many_attempts', 'No.', {}, { 'retry-after': '120' }),
      2,
      2.1,
    ],
    [
      '503 after Retry-After',
      problem(503, 'unavailable', 'No.', {}, { 'retry-after': '60' }),
      1,
      1.1,
    ],
    ['500 after a second or two', problem(500, 'internal_error', 'No.'), 0, 0.1],
    ['a permanent error only at the sync interval', problem(404, 'not_found', 'No.'), 4.9, 5.1],
  ])('retries the same code after %s', async (_, answer, fromMinutes, toMinutes) => {
    const stub = await stubService(
      answer,
      json(201, registered),
      problem(503, 'unavailable', 'No.'),
    );
    const tv = virtualTv({ url: stub.url, nextCode: async () => 'ABCD2345' });
    await tv.player.run(undefined, 6 * minuteMs);
    const [, second] = tv.told.answers.filter(({ operation }) => operation === 'registerDevice');
    expect((second?.sinceStartMs ?? 0) / minuteMs).toBeGreaterThan(fromMinutes);
    expect((second?.sinceStartMs ?? 0) / minuteMs).toBeLessThan(toMinutes);
    const [one, two] = keysOf(stub);
    expect(two).toBe(one);
  });

  it('sends nothing that was not saved before', async () => {
    const { code } = await service.code();
    let broken = 3;
    const inner = ramMemory();
    const memory: PlayerMemory = {
      load: inner.load,
      save: async (state) =>
        broken-- > 0 ? Promise.reject(new Error('The disk is full.')) : inner.save(state),
    };
    const tv = virtualTv({ url: service.url, memory, nextCode: async () => code });
    await tv.player.run(undefined, minuteMs);
    expect(tv.told.failures.slice(0, 3).map(({ message }) => message)).toEqual(
      Array(3).fill('The disk is full.'),
    );
    expect(tv.pace('registerDevice').map((one) => one.split(' ')[1])).toEqual(['201']);
    expect(tv.told.answers[0]?.sinceStartMs).toBeGreaterThan(3 * secondMs);
  });

  it('does not use a key that was not saved, and gets the same response again', async () => {
    const { code, screenId } = await service.code();
    let broken = 1;
    const inner = ramMemory();
    const save = async (state: PlayerState) =>
      state.binding && broken-- > 0
        ? Promise.reject(new Error('The disk is full.'))
        : inner.save(state);
    const tv = virtualTv({
      url: service.url,
      memory: { load: inner.load, save },
      nextCode: async () => code,
    });
    await tv.player.run(undefined, minuteMs);
    expect(tv.told.answers.slice(0, 3).map(({ operation, status }) => [operation, status])).toEqual(
      [
        ['registerDevice', 201],
        ['registerDevice', 201],
        ['getDeviceConfig', 200],
      ],
    );
    expect(tv.told.bound).toHaveLength(1);
    expect(
      (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body.items,
    ).toHaveLength(1);
  });

  it('can be stopped while waiting for a code', async () => {
    const tv = virtualTv({ url: service.url, nextCode: () => new Promise(() => {}) });
    const ended = tv.player.run();
    setImmediate(() => tv.player.stop());
    expect(await ended).toEqual({ reason: 'stopped' });
  });

  it('rejects single steps that require a key', async () => {
    const { player, told } = virtualTv({ url: service.url });
    for (const step of [() => player.fetchPlaylist(), () => player.fetchConfig()])
      await expect(step()).rejects.toMatchObject({ code: 'not_registered' });
    expect(told.answers).toEqual([]);
  });
});
