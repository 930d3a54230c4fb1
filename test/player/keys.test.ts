import { setTimeout as pauseFor } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import type { PlayerMemory, PlayerState } from '../../src/player/state.ts';
import { json, problem, type StubService, stubService } from '../support/network/stub-service.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { config as fiveMinutes, registered } from '../support/service/tv-place.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { binding, memoryWith, playlistOf, tvStub } from './saved-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const config = { ...fiveMinutes, syncIntervalMinutes: 1 };
const playlist = playlistOf([video(1, 10)]);
const log = { type: 'log', timestamp: 1_790_000_000 };
const kept = { config, playlist: { answer: playlist, validUntilMs: 4e12 }, queue: [log] };

const authorizations = (stub: StubService) =>
  stub.heard.map(({ headers }) => headers.authorization);

/** Starts a stub that answers the first call of a key with this error, and later ones with 200. */
function stubRejectingFirst(code: string) {
  let isFirst = true;
  return tvStub({
    register: json(201, { ...registered, deviceId: 'd2', screenId: 's2', apiKey: 'dak_new' }),
    config: (response, request) => {
      const answer = isFirst ? problem(401, code, 'No.') : json(200, config);
      isFirst = false;
      answer(response, request);
    },
    playlist: json(200, playlist),
  });
}

/** A memory as slow as a database: a save is on its way while the TV goes on. */
const slowMemory = ({ load, save }: PlayerMemory): PlayerMemory => ({
  load,
  async save(state) {
    await pauseFor(20);
    await save(state);
  },
});

describe('A key rejected with 401', () => {
  it.each([
    ['device_key_revoked', 'revoked'],
    ['device_key_orphaned', 'orphaned'],
    ['device_key_invalid', 'invalid'],
  ])(
    '%s: the TV forgets the key and everything bound to it, and pairs again',
    async (code, why) => {
      const stub = await stubRejectingFirst(code);
      const memory = slowMemory(await memoryWith(kept));
      const asked: string[] = [];
      const nextCode = async (reason: string) => {
        asked.push(reason);
        expect((await memory.load())?.binding).toBeUndefined();
        return 'ABCD2345';
      };
      const tv = virtualTv({ url: stub.url, memory, nextCode, startMs: 1_790_000_000_000 });
      await tv.player.run(undefined, 5 * secondMs);
      expect(asked).toEqual([why]);
      expect(tv.told.unpaired).toEqual([why]);
      expect(authorizations(stub)).toEqual([
        'Bearer dak_kept',
        undefined,
        ...Array(stub.heard.length - 2).fill('Bearer dak_new'),
      ]);
      expect(stub.heard[2]?.url).toBe('/devices/s2/config');
      // Events of the previous screen are not reported for the new one.
      expect(tv.told.dropped).toEqual([
        {
          events: [
            log,
            expect.objectContaining({ type: 'app_started' }),
            expect.objectContaining({ type: 'shown' }),
          ],
          why: 'unpaired',
        },
      ]);
      expect(tv.told.shown).toHaveLength(tv.told.shown.indexOf(undefined) + 3);
    },
  );

  it('ends the run with the reason if there is no new code', async () => {
    const { code, screenId } = await service.code();
    const tv = virtualTv({
      url: service.url,
      nextCode: async (why) => (why === 'new' ? code : undefined),
    });
    tv.at(90 * secondMs, () =>
      service.manage('POST', `/v1/devices/${tv.player.state.deviceId}/revoke`),
    );
    expect(await tv.player.run()).toMatchObject({
      reason: 'unpaired',
      why: 'revoked',
      error: { code: 'device_key_revoked', status: 401 },
    });
    expect(tv.player.state).toMatchObject({
      phase: 'unpaired',
      deviceId: undefined,
      screenId: undefined,
      playlist: undefined,
      queued: 0,
    });
    expect((await service.manage('GET', `/v1/screens/${screenId}`)).body.state).toBe(
      'provisioning',
    );
  });

  it('orphans the TV if the screen was deleted', async () => {
    const { code, screenId } = await service.code();
    const tv = virtualTv({
      url: service.url,
      nextCode: async (why) => (why === 'new' ? code : undefined),
    });
    tv.at(90 * secondMs, () => service.manage('DELETE', `/v1/screens/${screenId}?force=true`));
    expect(await tv.player.run()).toMatchObject({ reason: 'unpaired', why: 'orphaned' });
  });

  it('device_key_invalid: a different key in the saved state is used', async () => {
    const stub = await stubRejectingFirst('device_key_invalid');
    const memory = await memoryWith(kept);
    const mended = { ...(await memory.load()), binding: { ...binding, apiKey: 'dak_mended' } };
    const tv = virtualTv({
      url: stub.url,
      memory,
      observer: { onAnswer: () => void memory.save(mended as PlayerState) },
    });
    await expect(tv.player.fetchConfig()).rejects.toMatchObject({ code: 'device_key_invalid' });
    await tv.player.fetchConfig();
    expect(authorizations(stub)).toEqual(['Bearer dak_kept', 'Bearer dak_mended']);
    expect(tv.told.unpaired).toEqual([]);
  });

  it.each(['device_key_missing', 'some_proxy_says_so'])(
    '%s: the key is kept and the call retried',
    async (code) => {
      const stub = await stubRejectingFirst(code);
      const tv = virtualTv({
        url: stub.url,
        memory: await memoryWith(kept),
        startMs: 1_790_000_000_000,
      });
      await tv.player.run(undefined, 2 * minuteMs);
      expect(new Set(authorizations(stub))).toEqual(new Set(['Bearer dak_kept']));
      expect(tv.pace('getDeviceConfig').map((one) => one.split(' ')[1])).toEqual([
        '401',
        '200',
        '200',
      ]);
      expect(tv.told.dropped).toEqual([]);
      expect(tv.told.unpaired).toEqual([]);
    },
  );

  it('device_key_mismatch: the key is kept and the other id used in the path', async () => {
    const stub = await stubService((response, request) => {
      if (request.url.startsWith('/devices/screen/'))
        return problem(401, 'device_key_mismatch', 'No.')(response, request);
      return json(
        request.method === 'POST' ? 202 : 200,
        request.method === 'POST' ? { received: 2 } : config,
      )(response, request);
    });
    const tv = virtualTv({ url: stub.url, memory: await memoryWith(kept) });
    await tv.player.run(undefined, 30 * secondMs);
    expect(stub.heard.map(({ url }) => url.split('/')[2])).toEqual([
      'screen',
      ...Array(stub.heard.length - 1).fill('device'),
    ]);
    expect(tv.told.acknowledged.length).toBeGreaterThan(0);
    expect(tv.told.unpaired).toEqual([]);
  });
});
