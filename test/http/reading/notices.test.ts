import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import { serve } from '../../../src/serve.ts';
import { expectInvalid, item, type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { serveBelieving } from '../../support/stores/believed-clock.ts';

interface Notice {
  id: string;
  at: string;
  type: string;
  venueId: string | null;
  screenId: string | null;
  deviceId: string | null;
  data: Record<string, unknown>;
}

let service: TestService;
let admin: Manager;
beforeEach(async () => {
  service = await startService({}, serveBelieving);
  admin = manager(service);
});
afterEach(() => service.close());

const read = async (query: string, caller = admin): Promise<Notice[]> => {
  const answer = await caller.get(`/v1/notices${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items;
};

/** Returns the types, oldest first, once there are `count`: they are listed soon after a change. */
async function types(count: number): Promise<string[]> {
  await expect.poll(async () => (await read('')).length).toBe(count);
  return (await read('?order=asc')).map(({ type }) => type);
}

describe('GET /v1/notices', () => {
  it('tells of a TV that was paired and revoked, with all names', async () => {
    const venue = await service.venue({ name: 'Lobby' });
    const screen = await service.screen({ venueId: venue.id, name: 'Main' });
    const tv = await service.tv(screen.id);
    await admin.send('POST', `/v1/devices/${tv.deviceId}/revoke`, { body: { reason: 'stolen' } });
    await admin.send('POST', `/v1/devices/${tv.deviceId}/revoke`, { body: {} });
    expect(await types(2)).toEqual(['screen.paired', 'device.revoked']);
    const [revoked, paired] = await read('');
    const place = { venueId: venue.id, screenId: screen.id, deviceId: tv.deviceId };
    const names = { venue: 'Lobby', screen: 'Main' };
    expect(paired).toMatchObject({ ...place, data: names });
    expect(revoked).toMatchObject({ ...place, data: { ...names, reason: 'stolen' } });
    expect(revoked?.at).toBe(new Date(service.clock.now()).toISOString());
  });

  it('tells of playlists that managers publish and withdraw, and of nothing without a change', async () => {
    const { screenId } = await service.tv();
    const path = `/v1/screens/${screenId}/playlist`;
    const playlist = { items: [item()] };
    for (const _ of [1, 2]) await admin.send('PUT', path, { body: playlist });
    for (const _ of [1, 2]) await admin.send('DELETE', path, {});
    const screenIds = [screenId];
    await admin.send('POST', '/v1/publications', {
      body: { action: 'publish', screenIds, ...playlist },
    });
    const told = ['screen.paired', 'playlist.published', 'playlist.ended', 'playlist.published'];
    expect(await types(4)).toEqual(told);
    const [again, ended] = await read('');
    expect(again).toMatchObject({ screenId, deviceId: null, data: { version: 2 } });
    expect(ended?.data).toMatchObject({ version: 1, reason: 'withdrawn' });
  });

  it('tells once that a playlist is past its validUntil', async () => {
    const { screenId } = await service.tv();
    const validUntil = Math.floor(service.clock.now() / 1000) + 60;
    const playlist = { items: [item()], validUntil };
    await admin.send('PUT', `/v1/screens/${screenId}/playlist`, { body: playlist });
    await types(2);
    const later = async () => {
      service.clock.advance(15 * 1000);
      return (await read('')).length;
    };
    for (let n = 0; n < 3; n++) expect(await later()).toBe(2);
    await expect.poll(later).toBe(3);
    for (let n = 0; n < 6; n++) expect(await later()).toBe(3);
    const [ended] = await read('');
    expect(ended).toMatchObject({ type: 'playlist.ended', screenId });
    expect(ended?.data).toMatchObject({ version: 1, reason: 'expired' });
  });

  it('goes on after an id that it does not know, by its place in the order', async () => {
    const venue = await service.venue({ name: 'Lobby' });
    const screen = await service.screen({ venueId: venue.id, name: 'Main' });
    await service.tv(screen.id);
    expect(await types(1)).toEqual(['screen.paired']);
    const [{ id }] = (await read('')) as [Notice];
    const before = '00000000-0000-7000-8000-000000000000';
    const after = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
    const next = async (unknown: string) =>
      (await read(`?order=asc&after=${unknown}`)).map((one) => one.id);
    expect([await next(before), await next(after)]).toEqual([[id], []]);
  });

  it('tells only platform tokens of a lock-out', async () => {
    for (let n = 0; n < 12; n++) await service.register(`WRNGCD2${'ABCDEFGHJKLM'[n]}`);
    expect(await types(1)).toEqual(['registration.locked_out']);
    const [notice] = await read('');
    const data = { scope: 'source', source: '127.0.0.1', unknownCodes: 10, withinMinutes: 15 };
    expect(notice).toMatchObject({ venueId: null, screenId: null, deviceId: null, data });
    expect(await read('', manager(service, await service.token('admin')))).toEqual([]);
  });

  it('filters by type and time', async () => {
    const tv = await service.tv();
    await types(1);
    service.clock.advance(1000);
    await admin.send('POST', `/v1/devices/${tv.deviceId}/revoke`, { body: {} });
    await types(2);
    const ofType = async (query: string) => (await read(query)).map(({ type }) => type);
    const now = new Date(service.clock.now()).toISOString();
    expect(await ofType('?type=screen.paired')).toEqual(['screen.paired']);
    expect(await ofType(`?from=${now}`)).toEqual(['device.revoked']);
    expect(await ofType(`?to=${now}`)).toEqual(['screen.paired']);
    expectInvalid(await admin.get('/v1/notices?type=screen.lit'), 'query.type');
    expectInvalid(await admin.get('/v1/notices?cursor=x'), 'query.cursor');
  });

  it('200 for a held request as soon as a notice matches', async () => {
    await service.tv();
    await types(1);
    const [last] = await read('');
    const query = `?order=asc&after=${last?.id}&type=screen.paired&waitSeconds=30`;
    const held = read(query);
    const { deviceId } = await service.tv();
    expect((await held).map((one) => one.deviceId)).toEqual([deviceId]);
  });

  it('are deleted after the retention, in whole days', async () => {
    await service.tv();
    await types(1);
    service.clock.advance(90 * dayMs);
    await service.tv();
    await types(2);
    service.clock.advance(dayMs);
    await types(1);
  });
});

describe('on of a running service', () => {
  it('calls listeners with each notice from then on, once, until they stop', async () => {
    const heard: string[] = [];
    let stop = () => {};
    const own = await startService({}, async (options) => {
      const running = await serve(options);
      running.on('notice', () => {
        throw new Error('a listener that fails');
      });
      stop = running.on('notice', ({ type, tenantId, data }) => {
        heard.push(`${type} ${tenantId === null} ${data.screen}`);
      });
      return running;
    });
    const screen = await own.screen({ name: 'Main' });
    const { deviceId } = await own.tv(screen.id);
    await own.manage('POST', `/v1/devices/${deviceId}/revoke`, {});
    const told = ['screen.paired false Main', 'device.revoked false Main'];
    await expect.poll(() => heard).toEqual(told);
    stop();
    await own.tv();
    await own.close();
    expect(heard).toEqual(told);
  });
});
