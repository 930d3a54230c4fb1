// Playlists that name files of the service (docs/protocol.md §5.14).
import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { item } from '../../support/service/content.ts';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { someFile, upload } from '../../support/service/media.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let tv: BoundTv;
let count = 100;
const fresh = () => someFile(++count);

beforeAll(async () => {
  service = await startService({ trustProxy: ['127.0.0.1'] });
  admin = manager(service);
  tv = await service.tv();
});

/** Uploads a new file. Returns its id and path. */
async function uploaded(by = admin): Promise<{ id: string; url: string }> {
  const { status, text, body } = await upload(by, fresh());
  expect(status, text).toBe(201);
  return body;
}

const publish = (screenId: string, urls: string[], by = admin) =>
  by.put(`/v1/screens/${screenId}/playlist`, {
    items: urls.map((creativeUrl) => item({ creativeUrl })),
  });

type Headers = Record<string, string>;

/** Asks the service as a TV does that reaches it by another name. */
function ask(what: string, headers: Headers, from = tv) {
  const { hostname, port } = new URL(service.url);
  const path = `/devices/${from.screenId}/${what}`;
  const all = { Authorization: `Bearer ${from.apiKey}`, ...headers };
  return new Promise<{ status: number; etag: string; body: Answer['body'] }>((resolve, reject) => {
    const sent = request({ hostname, port, path, headers: all }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: answer.statusCode ?? 0,
          etag: String(answer.headers.etag),
          body: text && JSON.parse(text),
        });
      });
    });
    sent.on('error', reject).end();
  });
}

const urlsOf = ({ body }: Pick<Answer, 'body'>) =>
  body.items.map(({ creativeUrl }: { creativeUrl: string }) => creativeUrl);

describe('a playlist with a file of the service', () => {
  it('is stored with its path, and TVs get the URL under which they reach the service', async () => {
    const { url } = await uploaded();
    const foreign = 'https://media.example.com/a.png';
    const absolute = `${service.url}${url}`;
    const published = await publish(tv.screenId, [url, foreign, absolute]);
    expect(published.status, published.text).toBe(200);
    expect(urlsOf(published)).toEqual([url, foreign, url]);
    const path = `/v1/screens/${tv.screenId}/playlist`;
    expect(urlsOf(await admin.get(path))).toEqual([url, foreign, url]);
    const seen = async (headers: Headers) => urlsOf(await ask('playlist', headers));
    expect(await seen({})).toEqual([absolute, foreign, absolute]);
    expect(await seen({ Host: 'shop.example:8080' })).toEqual([
      `http://shop.example:8080${url}`,
      foreign,
      `http://shop.example:8080${url}`,
    ]);
    const [first] = await seen({ Host: 'shop.example', 'X-Forwarded-Proto': 'https' });
    expect(first).toBe(`https://shop.example${url}`);
    const [plain] = await seen({ Host: '[::1]:4100' });
    expect(plain).toBe(`http://[::1]:4100${url}`);
    expect((await fetch(absolute)).status).toBe(200);
  });

  it('has another ETag and cursor at another address, and 304 at the same one', async () => {
    await publish(tv.screenId, [(await uploaded()).url]);
    const [one, other] = [{ Host: 'one.example' }, { Host: 'other.example' }];
    const [first, second] = [await ask('playlist', one), await ask('playlist', other)];
    expect(first.etag).not.toBe(second.etag);
    const known = { 'If-None-Match': first.etag };
    expect((await ask('playlist', { ...one, ...known })).status).toBe(304);
    expect((await ask('playlist', { ...other, ...known })).status).toBe(200);
    const changes = await ask('changes', one);
    expect(changes.body.playlist.etag).toBe(first.etag);
    expect((await ask('changes', other)).body.cursor).not.toBe(changes.body.cursor);
    const held = await ask(`changes?waitSeconds=20&after=${changes.body.cursor}`, other);
    expect(held.body.playlist.etag).toBe(second.etag);
  });

  it('keeps one ETag for all addresses without such a file', async () => {
    await publish(tv.screenId, ['https://media.example.com/a.png']);
    const [first, second] = await Promise.all(
      ['one.example', 'other.example'].map((Host) => ask('playlist', { Host })),
    );
    expect(first?.etag).toBe(second?.etag);
  });

  it('keeps name, size and sha256 of its items, and refuses wrong ones', async () => {
    const { id, url } = await uploaded();
    const put = (more: object) =>
      admin.put(`/v1/screens/${tv.screenId}/playlist`, {
        items: [item({ creativeUrl: url, ...more })],
      });
    const members = { name: 'Menu', size: 9, sha256: id };
    expect((await put(members)).body.items[0]).toMatchObject(members);
    expectInvalid(await put({ name: 'x'.repeat(201) }), '/items/0/name');
    expectInvalid(await put({ size: -1 }), '/items/0/size');
    expectInvalid(await put({ sha256: 'x' }), '/items/0/sha256');
  });

  it('404 media_not_found for a file that the tenant does not have, and publishes nothing', async () => {
    const before = (await admin.get(`/v1/screens/${tv.screenId}/playlist`)).body.version;
    const unknown = `/media/${'0'.repeat(64)}.png`;
    const answer = await publish(tv.screenId, [(await uploaded()).url, unknown]);
    expectProblem(answer, 'media_not_found');
    expect(answer.body.detail).toContain('0'.repeat(64));
    expect((await admin.get(`/v1/screens/${tv.screenId}/playlist`)).body.version).toBe(before);
  });

  it.each([
    '/media/x.png',
    `/media/${'0'.repeat(64)}.exe`,
    '/v1/me',
    `/media/../${'0'.repeat(64)}.png`,
  ])('400 for the path %s', async (path) => {
    expectInvalid(await publish(tv.screenId, [path]), '/items/0/creativeUrl');
  });
});

describe('a file in use', () => {
  it('409 media_in_use while a kept version names it, and not longer', async () => {
    const screens = [await service.screen(), await service.screen()];
    const { id, url } = await uploaded();
    const usedBy = async () => (await admin.get(`/v1/media/${id}`)).body.usedBy;
    for (const screen of screens) await publish(screen.id, [url]);
    expect(await usedBy()).toBe(2);
    expectProblem(await admin.delete(`/v1/media/${id}`), 'media_in_use');
    await admin.delete(`/v1/screens/${screens[1].id}`);
    expect(await usedBy()).toBe(1);
    for (let version = 2; version <= 20; version++)
      await publish(screens[0].id, [`https://media.example.com/${version}.png`]);
    expectProblem(await admin.delete(`/v1/media/${id}`), 'media_in_use');
    await publish(screens[0].id, ['https://media.example.com/21.png']);
    expect(await usedBy()).toBe(0);
    expect((await admin.delete(`/v1/media/${id}`)).status).toBe(204);
  });

  it('204 by force, and then it cannot be published again', async () => {
    const { id } = await service.screen();
    const { id: file, url } = await uploaded();
    await publish(id, [url]);
    expect((await admin.delete(`/v1/media/${file}?force=true`)).status).toBe(204);
    expectProblem(await publish(id, [url]), 'media_not_found');
  });

  it('is either published or deleted when both arrive together', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await service.screen();
      const { id: file, url } = await uploaded();
      const [published, deleted] = await Promise.all([
        publish(id, [url]),
        admin.delete(`/v1/media/${file}`),
      ]);
      expect([
        [200, 409],
        [404, 204],
      ]).toContainEqual([published.status, deleted.status]);
    }
  });

  it('is published to many screens, also by a rollback, unless it is gone', async () => {
    const screens = [await service.screen(), await service.screen()];
    const screenIds = screens.map(({ id }) => id);
    const { id: file, url } = await uploaded();
    const many = (body: object) => admin.post('/v1/publications', { screenIds, ...body });
    const items = [item({ creativeUrl: `${service.url}${url}` })];
    expect((await many({ action: 'publish', items })).status).toBe(200);
    expect((await admin.get(`/v1/media/${file}`)).body.usedBy).toBe(2);
    expect(urlsOf(await admin.get(`/v1/screens/${screenIds[0]}/playlist`))).toEqual([url]);
    const others = [item({ creativeUrl: 'https://media.example.com/a.png' })];
    await many({ action: 'publish', items: others });
    await many({ action: 'rollback' });
    expect(urlsOf(await admin.get(`/v1/screens/${screenIds[1]}/playlist`))).toEqual([url]);
    await many({ action: 'publish', items: others });
    await admin.delete(`/v1/media/${file}?force=true`);
    expectProblem(await many({ action: 'rollback', to: 3 }), 'media_not_found');
    expectProblem(await many({ action: 'publish', items }), 'media_not_found');
  });

  it('is visible to a token that is bound to the venue of a screen that uses it', async () => {
    const [inside, outside] = [await service.screen(), await service.screen()];
    const bound = manager(
      service,
      (
        await admin.newToken({
          name: `Bound ${++count}`,
          role: 'operator',
          venueIds: [inside.venueId],
        })
      ).token,
    );
    const { id, url } = await uploaded();
    await publish(outside.id, [url]);
    expectProblem(await bound.get(`/v1/media/${id}`), 'media_not_found');
    expectProblem(await publish(inside.id, [url], bound), 'media_not_found');
    await publish(inside.id, [url]);
    expect((await bound.get(`/v1/media/${id}`)).status).toBe(200);
    expect((await bound.get('/v1/media')).body.items).toHaveLength(1);
    expectProblem(await bound.delete(`/v1/media/${id}`), 'media_in_use');
  });

  it('forgets its uses with the versions', async () => {
    const service = await startService();
    const admin = manager(service);
    const screen = await service.screen();
    const { id, url } = await uploaded(admin);
    await publish(screen.id, [url], admin);
    await admin.delete(`/v1/screens/${screen.id}`);
    await service.clock.advance(3 * 60 * 60_000);
    expect((await admin.delete(`/v1/media/${id}`)).status).toBe(204);
    await service.close();
  });
});

describe('publicUrl', () => {
  it('is the address of files for every TV', async () => {
    const service = await startService({ publicUrl: 'https://signage.example.com/tv' });
    const admin = manager(service);
    const own = await service.tv();
    const { url } = await uploaded(admin);
    await publish(own.screenId, [`https://signage.example.com/tv${url}`], admin);
    const answer = await own.send('GET', 'playlist');
    expect(urlsOf(answer)).toEqual([`https://signage.example.com/tv${url}`]);
    expect(urlsOf(await admin.get(`/v1/screens/${own.screenId}/playlist`))).toEqual([url]);
    await service.close();
  });
});
