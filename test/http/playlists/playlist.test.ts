import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PlaylistOrigin } from '../../../src/origin/origin.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { item } from '../../support/service/content.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});

const publish = async (tv: BoundTv, content: Record<string, unknown> = { items: [item()] }) => {
  const answer = await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, content);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const withdraw = (tv: BoundTv) => service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
const seconds = () => Math.floor(service.clock.now() / 1000);
const deviceOf = async (tv: BoundTv) =>
  (await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body;

describe('GET /devices/:id/playlist', () => {
  it('200 with the active playlist and its headers', async () => {
    const tv = await service.tv();
    const items = [
      item({ campaignId: randomUUID().toUpperCase(), zoo: [1, { b: null }], title: 'Grüße ☀' }),
      item({ creativeType: 'image', creativeUrl: 'http://127.0.0.1/a.png', duration: 0.5 }),
      item({ creativeType: 'html', duration: 86_400 }),
    ];
    const validUntil = seconds() + 3600;
    const { id } = await publish(tv, { items, validUntil });
    const answer = await tv.send('GET', 'playlist');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id,
      tenantId: tv.tenantId,
      screenId: tv.screenId,
      status: 'active',
      version: 1,
      validUntil,
      entryId: null,
      items,
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-playlist-version': '1',
      'x-source': 'store',
      etag: expect.stringMatching(/^"[^"\s]+"$/),
      'cache-control': 'private, no-cache',
    });
    expect(await deviceOf(tv)).toMatchObject({
      lastPlaylistAt: new Date(service.clock.now()).toISOString(),
      lastPlaylistVersion: 1,
      lastPlaylistStatus: 200,
    });
  });

  it('200 with the same bytes for the next TV of the screen', async () => {
    const tv = await service.tv();
    await publish(tv);
    const { text } = await tv.send('GET', 'playlist');
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    const next = await service.tv(tv.screenId);
    expect((await next.send('GET', 'playlist')).text).toBe(text);
  });

  it('304 for If-None-Match, which the device records', async () => {
    const tv = await service.tv();
    await publish(tv);
    const headers = { 'if-none-match': (await tv.send('GET', 'playlist')).headers.get('etag')! };
    const ask = () => tv.send('GET', 'playlist', { headers });
    service.clock.advance(1000);
    expect(await ask()).toMatchObject({ status: 304, text: '' });
    expect(await deviceOf(tv)).toMatchObject({
      lastPlaylistAt: new Date(service.clock.now()).toISOString(),
      lastPlaylistStatus: 304,
      lastPlaylistVersion: 1,
    });
    await withdraw(tv);
    expectProblem(await ask(), 404, 'playlist_not_found');
    expect(await deviceOf(tv)).toMatchObject({ lastPlaylistStatus: 404, lastPlaylistVersion: 1 });
  });

  it('412 for another ETag in If-Match, which the device does not record; 404 without a playlist', async () => {
    const tv = await service.tv();
    const ask = (ifMatch: string) =>
      tv.send('GET', 'playlist', { headers: { 'if-match': ifMatch, 'if-none-match': '*' } });
    expectProblem(await ask('*'), 404, 'playlist_not_found');
    await publish(tv);
    const { headers } = await tv.send('GET', 'playlist');
    expectProblem(await ask('"other"'), 412, 'precondition_failed');
    expect(await deviceOf(tv)).toMatchObject({ lastPlaylistStatus: 200 });
    expect((await ask(headers.get('etag')!)).status).toBe(304);
  });

  it('404 playlist_not_found when nothing was published, and the device counts as seen', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    const answer = await tv.send('GET', 'playlist');
    expectProblem(answer, 404, 'playlist_not_found');
    const names = { name: expect.any(String), venue: { name: expect.any(String) } };
    expect(answer.body.screen).toEqual(names);
    const now = new Date(service.clock.now()).toISOString();
    expect(await deviceOf(tv)).toMatchObject({
      lastSeenAt: now,
      lastPlaylistAt: now,
      lastPlaylistStatus: 404,
      lastPlaylistVersion: null,
    });
  });

  it('ignores query parameters', async () => {
    const tv = await service.tv();
    expect((await tv.send('GET', 'config?x=1&x=2')).status).toBe(200);
  });

  it('500 playlist_fetch_failed when an origin fails and none has a playlist; the device keeps its last version', async () => {
    const failing: PlaylistOrigin = {
      name: 'on-demand',
      fetch: async () => {
        throw new Error('planted');
      },
    };
    const none: PlaylistOrigin = { name: 'store', fetch: async () => ({ kind: 'none' }) };
    const alone = await mounted({ store: await openStore('memory:'), origins: [failing, none] });
    const { screenId, deviceId, apiKey } = await alone.tv();
    const answer = await alone.send('GET', `/devices/${screenId}/playlist`, { key: apiKey });
    expectProblem(answer, 500, 'playlist_fetch_failed');
    expect(answer.text).not.toContain('planted');
    expect(await alone.manage('GET', `/v1/devices/${deviceId}`)).toMatchObject({
      lastPlaylistStatus: 500,
      lastPlaylistVersion: null,
    });
  });
});
