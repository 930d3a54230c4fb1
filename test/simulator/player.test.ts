import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { Player } from '../../src/simulator/player.ts';
import { hastyClock } from '../support/hasty-clock.ts';
import { hangUp, json, problem, raw, type StubService, stubService } from '../support/stub-service.ts';

const config = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1, cachePolicy: { maxSizeGB: 10, retentionDays: 7 } };
const registered = { deviceId: 'device', screenId: 'screen', apiKey: 'dak_key', tenantId: 'tenant', config };
const item = (creativeId: string, campaignId?: string) => ({
  creativeId,
  creativeUrl: 'http://x/',
  creativeType: 'image',
  duration: 5,
  campaignId,
});
const playlist = {
  id: 'list',
  tenantId: 'tenant',
  screenId: 'screen',
  status: 'active',
  version: 1,
  validUntil: 1,
  items: [item('a', 'c1'), item('b'), item('c', 'c2')],
};
const nowSeconds = Date.UTC(2026, 10, 20, 12) / 1000;

let stub: StubService;
let player: Player;

beforeEach(async () => {
  stub = await stubService(json(201, registered));
  const clock = hastyClock();
  player = new Player({ client: new RuntimeClient({ url: stub.url, clock, retry: { attempts: 1 } }), deviceInfo: { model: 'TV' }, clock });
});
afterEach(() => stub.close());

describe('Player', () => {
  it('registers, and goes by the key it got', async () => {
    await player.register('ABCD2345');
    expect(JSON.parse(stub.heard[0]!.body)).toEqual({ pairingCode: 'ABCD2345', deviceInfo: { model: 'TV' } });
    expect(player).toMatchObject({ screenId: 'screen', deviceId: 'device', config });
    stub.answers[0] = json(200, playlist, { etag: '"1"' });
    expect(await player.fetchPlaylist()).toBe(true);
    expect(stub.heard[1]).toMatchObject({ url: '/devices/screen/playlist', headers: { authorization: 'Bearer dak_key' } });
  });

  it('repeats a registration whose answer was lost under the same key, and another code under another', async () => {
    stub.answers = [hangUp, json(201, registered)];
    await expect(player.register('ABCD2345')).rejects.toMatchObject({ code: 'unreachable' });
    await player.register('ABCD2345');
    await player.register('WXYZ2345');
    const [first, second, third] = stub.heard.map((one) => one.headers['idempotency-key']);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('does nothing before it is registered', async () => {
    await expect(player.fetchPlaylist()).rejects.toMatchObject({ code: 'not_registered' });
    await expect(player.post(player.makeBatch(1))).rejects.toMatchObject({ code: 'not_registered' });
    expect(stub.heard).toEqual([]);
  });

  it('asks for what is new only', async () => {
    await player.register('ABCD2345');
    stub.answers = [json(200, playlist, { etag: '"1"' }), raw(304, '', { etag: '"1"' })];
    expect([await player.fetchPlaylist(), await player.fetchPlaylist()]).toEqual([true, false]);
    expect(stub.heard.at(-1)?.headers['if-none-match']).toBe('"1"');
    expect(player.playlist).toEqual(playlist);
  });

  it('plays on what it has when the playlist cannot be fetched', async () => {
    await player.register('ABCD2345');
    stub.answers = [json(200, playlist, { etag: '"1"' }), problem(500, 'playlist_fetch_failed', 'No.')];
    await player.fetchPlaylist();
    await expect(player.fetchPlaylist()).rejects.toMatchObject({ code: 'playlist_fetch_failed' });
    expect(player.playlist).toEqual(playlist);
  });

  it('makes impressions of what it plays, with the campaign of the item, and none for items without', async () => {
    await player.register('ABCD2345');
    stub.answers[0] = json(200, playlist);
    await player.fetchPlaylist();
    const impression = (creativeId: string, campaignId: string) => ({
      type: 'impression',
      timestamp: nowSeconds,
      playlistId: 'list',
      creativeId,
      campaignId,
      duration: 5,
    });
    expect(player.makeBatch(5).events).toEqual([
      { type: 'heartbeat', timestamp: nowSeconds },
      impression('a', 'c1'),
      impression('c', 'c2'),
      impression('a', 'c1'),
    ]);
    expect(player.makeBatch(3).events).toEqual([{ type: 'heartbeat', timestamp: nowSeconds }, impression('c', 'c2')]);
  });

  it('has but a heartbeat to tell without a playlist', async () => {
    await player.register('ABCD2345');
    expect(player.makeBatch(10).events).toEqual([{ type: 'heartbeat', timestamp: nowSeconds }]);
  });

  it('posts a batch again under its own key', async () => {
    await player.register('ABCD2345');
    stub.answers = [hangUp, json(202, { received: 1 })];
    const batch = player.makeBatch(1);
    await expect(player.post(batch)).rejects.toMatchObject({ code: 'unreachable' });
    expect(await player.post(batch)).toBe(1);
    await player.post(player.makeBatch(1));
    const [first, second, third] = stub.heard.slice(1).map((one) => one.headers['idempotency-key']);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });
});
