import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  item,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let screenId: string;
const path = () => `/v1/screens/${screenId}/playlist`;
const publish = async (body: unknown) => {
  const answer = await admin.put(path(), body);
  expect(answer.status, answer.text).toBe(200);
  const { playing, ...stored } = answer.body;
  expect(playing).toBe(true);
  return stored;
};
const history = async (query = '') => (await admin.get(`${path()}s${query}`)).body;
const seconds = () => Math.floor(service.clock.now() / 1000);
const other = (duration = 7) => ({ items: [item({ duration })] });

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
});

beforeEach(async () => {
  screenId = (await service.screen()).id;
});

describe('PUT /v1/screens/:id/playlist', () => {
  it('200 with the playlist, version 1; validUntil null when none was given', async () => {
    const body = await publish({ items: [item()] });
    const { id, tenantId } = body;
    expect(body).toEqual({
      id,
      tenantId,
      screenId,
      status: 'active',
      version: 1,
      validUntil: null,
      items: [item()],
    });
    expect((await admin.get(path())).body).toEqual(body);
    expect((await admin.get(`/v1/screens/${screenId}`)).body.state).toBe('provisioning');
  });

  it('200 with items in order and with further members', async () => {
    const items = [
      item({
        campaignId: '33333333-3333-4333-8333-333333333333',
        duration: 0.5,
        subtitles: 'https://media.example.com/spring.de.vtt',
        mood: { tags: ['a', null, 1.5], deep: { er: true } },
      }),
      item({ creativeType: 'image', creativeUrl: 'http://media.example.com/%C3%A4%20.png?x=1#y' }),
      item({
        creativeType: 'html',
        duration: 86_400,
        creativeId: '00000000-0000-0000-0000-000000000000',
      }),
    ];
    expect((await publish({ items })).items).toEqual(items);
    const tv = await service.tv(screenId);
    expect((await tv.send('GET', 'playlist')).body.items).toEqual(items);
  });

  it('200 unchanged for the same content, in any notation', async () => {
    const first = await publish({
      items: [item({ campaignId: '33333333-3333-4333-8333-333333333333', extra: { a: 1, b: 2 } })],
      validUntil: seconds() + 60,
    });
    const items = [
      { extra: { b: 2, a: 1 }, campaignId: '33333333-3333-4333-8333-333333333333', ...item() },
    ];
    for (const validUntil of [seconds() + 60, (seconds() + 60) * 1000])
      expect(await publish({ items, validUntil })).toEqual(first);
    expect((await history()).items).toEqual([first]);
  });

  it('200 unchanged with validUntil null or left out', async () => {
    const first = await publish({ items: [item()] });
    expect(await publish({ items: [item()], validUntil: null })).toEqual(first);
  });

  it.each([
    ['other items', () => other()],
    ['a further member', () => ({ items: [item({ mood: 'calm' })] })],
    ['an end', () => ({ items: [item()], validUntil: seconds() + 60 })],
    ['one more item', () => ({ items: [item(), item()] })],
  ])('200 with the next version and the same id for %s', async (_, body) => {
    const first = await publish({ items: [item()] });
    const second = await publish(body());
    expect(second).toMatchObject({ id: first.id, version: 2, status: 'active' });
    expect((await history()).items).toEqual([second, { ...first, status: 'superseded' }]);
  });

  it('200 with one version each for two simultaneous publications', async () => {
    await Promise.all([publish(other(1)), publish(other(2)), publish(other(3))]);
    const { items } = await history();
    expect(
      items.map(({ version, status }: { version: number; status: string }) => [version, status]),
    ).toEqual([
      [3, 'active'],
      [2, 'superseded'],
      [1, 'superseded'],
    ]);
    expect(new Set(items.map(({ id }: { id: string }) => id)).size).toBe(1);
  });

  it('200 with a new version for the same content after it was withdrawn', async () => {
    const first = await publish({ items: [item()] });
    await admin.delete(path());
    expect(await publish({ items: [item()] })).toEqual({ ...first, version: 2 });
    expect((await history()).items.map(({ status }: { status: string }) => status)).toEqual([
      'active',
      'withdrawn',
    ]);
  });

  it('200 with a new version after expiry; the former one stays expired', async () => {
    const first = await publish({ items: [item()], validUntil: seconds() + 60 });
    service.clock.advance(60_000);
    const second = await publish({ items: [item()], validUntil: seconds() + 60 });
    expect(second).toMatchObject({ id: first.id, version: 2, status: 'active' });
    expect((await history()).items.map(({ status }: { status: string }) => status)).toEqual([
      'active',
      'expired',
    ]);
  });

  it.each([0, -1])(
    '400 for a validUntil %i seconds from now, and the playlist stays',
    async (offset) => {
      const first = await publish({ items: [item()] });
      const body = { items: [item({ duration: 3 })], validUntil: seconds() + offset };
      expectInvalid(await admin.put(path(), body), '/validUntil');
      expect((await admin.get(path())).body).toEqual(first);
      expect((await history()).items).toHaveLength(1);
    },
  );

  it('413 past 1 MiB, and nothing is published', async () => {
    const fits = { items: [item({ pad: 'x'.repeat(1_048_576 - 300) })] };
    expect(JSON.stringify(fits).length).toBeLessThanOrEqual(1_048_576);
    await publish(fits);
    expectProblem(
      await admin.put(path(), { items: [item({ pad: 'x'.repeat(1_048_576) })] }),
      'body_too_large',
    );
    expect((await admin.get(path())).body.version).toBe(1);
  });
});

describe('GET /v1/screens/:id/playlist', () => {
  it('200 with the status expired from validUntil on, 404 for the TV', async () => {
    const tv = await service.tv(screenId);
    const playlist = await publish({ items: [item()], validUntil: seconds() + 60 });
    expect(playlist.validUntil).toBe(seconds() + 60);
    service.clock.advance(59_999);
    expect((await admin.get(path())).body).toEqual(playlist);
    expect((await tv.send('GET', 'playlist')).status).toBe(200);
    service.clock.advance(1);
    expect((await admin.get(path())).body).toEqual({ ...playlist, status: 'expired' });
    expectProblem(await tv.send('GET', 'playlist'), 'playlist_not_found');
  });
});

describe('DELETE /v1/screens/:id/playlist', () => {
  it('204 even when there is none, or it is already withdrawn', async () => {
    expect((await admin.delete(path())).status).toBe(204);
    await publish({ items: [item()] });
    for (let times = 0; times < 2; times++) expect((await admin.delete(path())).status).toBe(204);
    expect((await history()).items).toHaveLength(1);
  });
});

describe('GET /v1/screens/:id/playlists', () => {
  it('200 page by page', async () => {
    for (let duration = 1; duration <= 5; duration++) await publish(other(duration));
    const first = await history('?limit=2');
    expect(first.items.map(({ version }: { version: number }) => version)).toEqual([5, 4]);
    await publish(other(6));
    const second = await history(`?limit=2&cursor=${first.nextCursor}`);
    expect(second.items.map(({ version }: { version: number }) => version)).toEqual([3, 2]);
    const third = await history(`?limit=2&cursor=${second.nextCursor}`);
    expect(third).toMatchObject({ items: [{ version: 1 }], nextCursor: null });
  });

  it.each(['cursor=x', 'cursor=-1', 'cursor=Infinity', 'cursor=1e3'])('400 for %s', async (query) =>
    expectInvalid(await admin.get(`${path()}s?${query}`), `query.${query.split('=')[0]}`),
  );

  it('200 and empty for a new screen with the name of a deleted one', async () => {
    const screen = await service.screen();
    screenId = screen.id;
    await publish({ items: [item()] });
    await admin.delete(`/v1/screens/${screenId}`);
    screenId = (await admin.screen(screen.venueId, screen.name)).id;
    expect(await history()).toEqual({ items: [], nextCursor: null });
  });
});
