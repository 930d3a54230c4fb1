import { beforeAll, describe, expect, it } from 'vitest';
import type { Requester } from '../../src/client/requester.ts';
import { type Clock, hourMs, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { type PlayerMemory, type PlayerState, ramMemory } from '../../src/player/state.ts';
import { json, problem, stubService } from '../support/network/stub-service.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { config as fiveMinutes } from '../support/service/tv-place.ts';
import { virtualTv } from '../support/tv/virtual-tv.ts';
import { accepted, binding, memoryWith } from './saved-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

/** Records requests and saves in one sequence. Faults apply to numbered rotation attempts. */
function watch(faults: Record<number, 'lose answer' | 'fail save' | 'cut power'> = {}) {
  const sequence: string[] = [];
  const inner = ramMemory();
  const cut = new AbortController();
  let tries = 0;
  let failing = false;
  const memory: PlayerMemory = {
    load: inner.load,
    async save(state) {
      const failed = failing && state.formerKey !== undefined;
      if (failed) failing = false;
      sequence.push(
        `${failed ? 'not saved' : 'saved'} ${state.rotating ? 'rotating' : state.formerKey ? 'both keys' : 'one key'}`,
      );
      if (failed) throw new Error('The disk is full.');
      await inner.save(state);
    },
  };
  const keys: string[] = [];
  const nameOf = (key = '') => `key ${keys.includes(key) ? keys.indexOf(key) : keys.push(key) - 1}`;
  const secrets: (string | undefined)[] = [];
  const wire =
    (send: Requester): Requester =>
    async (url, parts) => {
      const isRotation = url.endsWith('/keys/rotate');
      const fault = isRotation ? faults[++tries] : undefined;
      if (parts.headers.authorization)
        sequence.push(`${nameOf(parts.headers.authorization)} ${url.split('/').at(-1)}`);
      if (isRotation) secrets.push(parts.headers['idempotency-key']);
      const answer = await send(url, parts);
      if (fault === 'cut power') cut.abort();
      if (fault === 'lose answer' || fault === 'cut power') throw new Error('The answer is lost.');
      failing ||= fault === 'fail save';
      return answer;
    };
  return { sequence, secrets, memory, wire, cut, keys };
}

async function pairedTv(options: Omit<Parameters<typeof virtualTv>[0], 'url'> = {}) {
  const { code, screenId } = await service.code();
  const tv = virtualTv({
    url: service.url,
    nextCode: async (why) => (why === 'new' ? code : undefined),
    ...options,
  });
  return { ...tv, screenId };
}

const state = async (memory: PlayerMemory) => (await memory.load()) as PlayerState;
const statusOf = async (key: string | undefined, screenId: string) =>
  (
    await service.send('GET', `/devices/${screenId}/config`, {
      key: key?.replace('Bearer ', '') ?? '',
    })
  ).body.code ?? 200;

describe('A TV that rotates its key', () => {
  it('rotates at the interval and uses the new key; the previous one is saved and revoked', async () => {
    let rotations = 0;
    const tv = await pairedTv({
      rotateEveryMs: hourMs,
      observer: { onRotated: () => rotations++ },
    });
    await tv.player.run(undefined, 3.5 * hourMs);
    const { binding, formerKey, rotating } = await state(tv.memory);
    expect(rotations).toBe(3);
    expect(rotating).toBeUndefined();
    expect(formerKey?.apiKey).not.toBe(binding?.apiKey);
    expect([
      await statusOf(binding?.apiKey, tv.screenId),
      await statusOf(formerKey?.apiKey, tv.screenId),
    ]).toEqual([200, 'device_key_revoked']);
    expect(tv.told.unpaired).toEqual([]);
  });

  it('does not rotate by default', async () => {
    const tv = await pairedTv();
    await tv.player.run(undefined, 3 * hourMs);
    expect((await state(tv.memory)).formerKey).toBeUndefined();
  });

  it('saves the Idempotency-Key before the request, and both keys before using the new one', async () => {
    const { sequence, memory, wire } = watch();
    const tv = await pairedTv({ memory, wire });
    await tv.player.register((await service.code()).code);
    sequence.length = 0;
    await tv.player.rotateKey();
    await tv.player.fetchConfig();
    expect(sequence.slice(0, 4)).toEqual([
      'saved rotating',
      'key 0 rotate',
      'saved both keys',
      'key 1 config',
    ]);
  });

  it('retries with the same Idempotency-Key after a lost response, and gets the same key', async () => {
    const { secrets, memory, wire } = watch({ 1: 'lose answer', 2: 'lose answer' });
    const tv = await pairedTv({ memory, wire, rotateEveryMs: hourMs });
    await tv.player.run(undefined, 90 * minuteMs);
    expect(secrets).toHaveLength(3);
    expect(new Set(secrets).size).toBe(1);
    const { body } = await service.manage('GET', `/v1/audit?subjectId=${tv.player.state.deviceId}`);
    expect(
      body.items.filter(({ action }: { action: string }) => action === 'key.rotate'),
    ).toHaveLength(1);
  });

  it('keeps the old key if the new one cannot be saved, and gets the same one again', async () => {
    const { sequence, secrets, memory, wire } = watch({ 1: 'fail save' });
    const tv = await pairedTv({ memory, wire });
    await tv.player.register((await service.code()).code);
    await expect(tv.player.rotateKey()).rejects.toThrow('The disk is full.');
    await tv.player.fetchConfig();
    expect(sequence.filter((one) => one.startsWith('key'))).toEqual([
      'key 0 rotate',
      'key 0 config',
    ]);
    await tv.player.rotateKey();
    await tv.player.fetchConfig();
    expect(new Set(secrets).size).toBe(1);
    expect(sequence.filter((one) => one.startsWith('key')).slice(2)).toEqual([
      'key 0 rotate',
      'key 1 config',
    ]);
  });

  it('retries at once with the same Idempotency-Key after a power cut before the save', async () => {
    const { secrets, memory, wire, cut } = watch({ 1: 'cut power' });
    const tv = await pairedTv({ memory, wire, rotateEveryMs: hourMs });
    expect(await tv.player.run(cut.signal)).toEqual({ reason: 'aborted' });
    expect((await state(memory)).rotating).toBeDefined();
    const again = virtualTv({ url: service.url, memory, wire, rotateEveryMs: hourMs });
    await again.player.run(undefined, minuteMs);
    expect(secrets).toHaveLength(2);
    expect(new Set(secrets).size).toBe(1);
    const { binding, rotating } = await state(memory);
    expect([rotating, await statusOf(binding?.apiKey, tv.screenId)]).toEqual([undefined, 200]);
  });

  it('keeps its interval over more frequent power cuts', async () => {
    const memory = ramMemory();
    let rotations = 0;
    const observer = { onRotated: () => rotations++ };
    let tv = await pairedTv({ memory, rotateEveryMs: hourMs, observer });
    for (let cuts = 0; cuts < 9; cuts++) {
      const cut = new AbortController();
      tv.at(25 * minuteMs, () => cut.abort());
      await tv.player.run(cut.signal);
      const startMs = tv.clock.now() + minuteMs;
      tv = {
        ...virtualTv({ url: service.url, memory, rotateEveryMs: hourMs, observer, startMs }),
        screenId: tv.screenId,
      };
    }
    expect(rotations).toBe(3);
  });

  it('uses a new Idempotency-Key if another rotation has replaced the key', async () => {
    const { secrets, memory, wire } = watch({ 1: 'lose answer' });
    const tv = await pairedTv({ memory, wire });
    await tv.player.register((await service.code()).code);
    await expect(tv.player.rotateKey()).rejects.toMatchObject({ code: 'unreachable' });
    const { binding } = await state(memory);
    await service.send('POST', `/devices/${binding?.screenId}/keys/rotate`, {
      key: binding?.apiKey ?? '',
    });
    await expect(tv.player.rotateKey()).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await tv.player.rotateKey();
    await tv.player.fetchConfig();
    expect(new Set(secrets).size).toBe(2);
    expect(tv.told.unpaired).toEqual([]);
  });
});

const config = { ...fiveMinutes, syncIntervalMinutes: 1 };
const kept = {
  binding: { ...binding, apiKey: 'dak_new' },
  formerKey: { apiKey: 'dak_former' },
};

/** Starts a stub that accepts these keys, and rejects others with `code`. */
async function knowing(code: string, ...keys: string[]) {
  const known = new Set(keys.map((key) => `Bearer ${key}`));
  const stub = await stubService((response, request) => {
    if (!known.has(request.headers.authorization ?? ''))
      return problem(401, code, 'No.')(response, request);
    const answer = request.method === 'POST' ? accepted : json(200, config);
    answer(response, request);
  });
  const used = () =>
    stub.heard.map(({ headers }) => headers.authorization?.slice('Bearer dak_'.length));
  return { ...stub, known, used };
}

describe('A TV with a previous key', () => {
  it.each(['device_key_invalid', 'device_key_revoked'])(
    'falls back to it when the new key is rejected with %s',
    async (code) => {
      const stub = await knowing(code, 'dak_former');
      const memory = await memoryWith(kept);
      const codes: string[] = [];
      const tv = virtualTv({
        url: stub.url,
        memory,
        observer: { onFallBack: (error) => codes.push(error.code) },
      });
      expect(await tv.player.run(undefined, 5 * minuteMs)).toEqual({ reason: 'stopped' });
      expect(stub.used()).toEqual(['new', ...Array(stub.heard.length - 1).fill('former')]);
      expect([codes, tv.told.unpaired]).toEqual([[code], []]);
      expect((await state(memory)).binding).toEqual({ ...kept.binding, apiKey: 'dak_former' });
    },
  );

  it('tries it once: if it is rejected too, it forgets both and pairs again', async () => {
    const stub = await knowing('device_key_invalid');
    const memory = await memoryWith(kept);
    const tv = virtualTv({ url: stub.url, memory, nextCode: async () => undefined });
    expect(await tv.player.run()).toMatchObject({ reason: 'unpaired', why: 'invalid' });
    expect(stub.used()).toEqual(['new', 'former']);
    expect(await state(memory)).toEqual({ format: 1, queue: [] });
  });

  it('returns to the new key if only that one works later', async () => {
    const stub = await knowing('device_key_invalid', 'dak_former');
    const tv = virtualTv({ url: stub.url, memory: await memoryWith(kept) });
    tv.at(2 * minuteMs, () => {
      stub.known.clear();
      stub.known.add('Bearer dak_new');
    });
    expect(await tv.player.run(undefined, 5 * minuteMs)).toEqual({ reason: 'stopped' });
    expect(stub.used().at(-1)).toBe('new');
    expect(tv.told.unpaired).toEqual([]);
  });

  it('does not fall back for a deleted screen, which affects both keys', async () => {
    const stub = await knowing('device_key_orphaned', 'dak_former');
    const tv = virtualTv({
      url: stub.url,
      memory: await memoryWith(kept),
      nextCode: async () => undefined,
    });
    expect(await tv.player.run(undefined, 10 * secondMs)).toMatchObject({
      reason: 'unpaired',
      why: 'orphaned',
    });
    expect(stub.used()).toEqual(['new']);
  });
});
