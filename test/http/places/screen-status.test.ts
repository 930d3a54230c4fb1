import { beforeAll, describe, expect, it } from 'vitest';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Reader } from '../../../src/store/store.ts';
import { item, type Manager, manager, unknownId, walk } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

const minuteMs = 60_000;

describe('GET /v1/status', () => {
  let service: TestService;
  let admin: Manager;
  let tv: BoundTv;
  let empty: { id: string; venueId: string };
  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
    tv = await service.tv();
    empty = await service.screen({ labels: { floor: '2' } });
  });
  const status = async (query = '') => (await admin.get(`/v1/status${query}`)).body.items;

  it('200 with each screen, its device and the summary of its playlist', async () => {
    const publication = { items: [item()], validUntil: 4_102_444_800 };
    const published = new Date(service.clock.now()).toISOString();
    await admin.put(`/v1/screens/${tv.screenId}/playlist`, publication);
    service.clock.advance(minuteMs);
    expect((await tv.send('GET', 'playlist', { key: tv.apiKey })).status).toBe(200);
    const [first, second] = await status();
    expect(first).toEqual({
      at: new Date(service.clock.now()).toISOString(),
      venueName: (await admin.get(`/v1/venues/${tv.venueId}`)).body.name,
      screen: (await admin.get(`/v1/screens/${tv.screenId}`)).body,
      device: (await admin.get(`/v1/devices/${tv.deviceId}`)).body,
      playlist: { version: 1, status: 'active', publishedAt: published, validUntil: 4_102_444_800 },
    });
    expect(first.device).toMatchObject({ online: true, lastPlaylistVersion: 1 });
    expect(second).toMatchObject({ screen: { id: empty.id }, device: null, playlist: null });
  });

  it('reads no items of playlists', async () => {
    const read: string[] = [];
    const open: typeof openStore = async (...options) => {
      const inner = await openStore(...options);
      const get: Reader['get'] = (table, id) => {
        read.push(table);
        return inner.read.get(table, id);
      };
      return decorateStore(inner, { read: decorateStore(inner.read, { get }) });
    };
    const watched = await startService({}, (options = {}) => serveOn(open, options));
    const { id } = await watched.screen();
    await watched.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
    read.length = 0;
    const { body } = await watched.manage('GET', '/v1/status');
    expect(body.items[0].playlist.version).toBe(1);
    expect(read).toContain('venues');
    expect(read).not.toContain('playlists');
    await watched.close();
  });

  it('200 with a withdrawn playlist as such', async () => {
    await admin.put(`/v1/screens/${empty.id}/playlist`, { items: [item()] });
    await admin.delete(`/v1/screens/${empty.id}/playlist`);
    const [, second] = await status();
    expect(second.playlist).toMatchObject({ version: 1, status: 'withdrawn', validUntil: null });
  });

  it('200 with one venue, and with the screens of a selector, page by page', async () => {
    expect(await status(`?venueId=${empty.venueId}`)).toHaveLength(1);
    expect(await status('?selector=floor%3D2')).toMatchObject([{ screen: { id: empty.id } }]);
    expect(await status(`?venueId=${unknownId}`)).toEqual([]);
    const { items } = await walk(admin, '/v1/status?', 1);
    expect(items).toHaveLength(2);
  });
});
