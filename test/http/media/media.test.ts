// Uploading, listing and deleting media (docs/protocol.md §5.14).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  auditOf,
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
  walk,
} from '../../support/service/management.ts';
import { idOf, someFile, upload, uploadPart } from '../../support/service/media.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { serveBelieving } from '../../support/stores/believed-clock.ts';

const mebibyte = 1024 * 1024;
let folder: string;
let service: TestService;
let admin: Manager;
let count = 0;
const fresh = (bytes?: number) => someFile(++count, bytes);

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startService({
    store: join(folder, 'data'),
    mediaLimitMiB: 4,
    mediaQuotaMiB: 20,
  });
  admin = manager(service);
});

/** All files of the media folder. */
const files = () =>
  readdirSync(join(folder, 'data/media'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe('PUT /v1/media/:id', () => {
  it('201 with the record, which GET reads back; 200 when it is there already', async () => {
    const file = fresh();
    const id = idOf(file);
    const answer = await upload(admin, file, '?name=Menu.svg');
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers.get('location')).toBe(`/v1/media/${id}`);
    expect(answer.body).toEqual({
      id,
      name: 'Menu.svg',
      type: 'image/svg+xml',
      bytes: file.length,
      url: `/media/${id}.svg`,
      usedBy: 0,
      createdAt: expect.any(String),
    });
    expect((await admin.get(`/v1/media/${id}`)).body).toEqual(answer.body);
    const again = await upload(admin, file, '?name=Other.svg');
    expect([again.status, again.body]).toEqual([200, answer.body]);
  });

  it('names a file without a name by its id', async () => {
    const file = fresh();
    expect((await upload(admin, file)).body.name).toBe(idOf(file).slice(0, 12));
  });

  it('writes one audit entry for each file', async () => {
    const file = fresh();
    const entries = await auditOf(admin, async () => {
      await upload(admin, file, '?name=Menu.svg');
      await upload(admin, file, '?name=Menu.svg');
      await admin.delete(`/v1/media/${idOf(file)}`);
    });
    expect(
      entries.map(({ action, subject, details }) => [action, subject.id, details.name]),
    ).toEqual([
      ['media.create', idOf(file), 'Menu.svg'],
      ['media.delete', idOf(file), 'Menu.svg'],
    ]);
  });

  it.each<[string, string, (file: Buffer) => Promise<unknown>]>([
    [
      '400 digest_mismatch for other bytes',
      'digest_mismatch',
      (file) => admin.send('PUT', `/v1/media/${'0'.repeat(64)}`, { body: file, untyped: true }),
    ],
    ['413 media_too_large', 'media_too_large', () => upload(admin, fresh(4 * mebibyte + 1))],
    ['415 for text', 'media_not_accepted', () => upload(admin, Buffer.from(`text ${++count}`))],
    ['415 for nothing', 'media_not_accepted', () => upload(admin, Buffer.alloc(0))],
    [
      '415 for a page that is called an image',
      'media_not_accepted',
      () =>
        upload(admin, Buffer.from(`<p>${++count}`), '?name=a.png', {
          headers: { 'Content-Type': 'image/png' },
        }),
    ],
    [
      '415 for a compressed body',
      'unsupported_media_type',
      (file) => upload(admin, file, '', { headers: { 'Content-Encoding': 'gzip' } }),
    ],
  ])('%s, and keeps nothing', async (_, code, send) => {
    const before = files();
    const file = fresh();
    expectProblem((await send(file)) as never, code as never);
    expect(files()).toEqual(before);
    expectProblem(await admin.get(`/v1/media/${idOf(file)}`), 'media_not_found');
  });

  it('400 for an id that is no SHA-256 in lower case', async () => {
    const file = fresh();
    for (const id of ['abc', idOf(file).toUpperCase(), '..%2f..%2fx'])
      expectInvalid(await admin.send('PUT', `/v1/media/${id}`, { body: file }), 'path.id');
  });

  it.each([
    ['name=a%2Fb', 'query.name'],
    ['name=a%00b', 'query.name'],
    ['name=a%0Ab', 'query.name'],
    ['name=a%E2%80%AEgpj.exe', 'query.name'],
    [`name=${'a'.repeat(201)}`, 'query.name'],
    ['offset=0', 'query.'],
    ['size=9', 'query.'],
    ['offset=-1&size=9', 'query.offset'],
    ['offset=1e3&size=9', 'query.offset'],
    ['offset=0&size=9007199254740993', 'query.size'],
    ['offset=0&size=0', 'query.size'],
    ['color=red', 'query.color'],
  ])('400 for ?%s', async (query, path) => {
    expectInvalid(await upload(admin, fresh(), `?${query}`), path);
  });

  it('hides files of other tenants, which must upload the same bytes to have them', async () => {
    const service = await startService();
    const platform = manager(service);
    const [{ id }] = (await platform.get('/v1/tenants')).body.items;
    const first = platform.in(id);
    const other = platform.in((await platform.tenant('Other')).id);
    const file = fresh();
    const { url } = (await upload(first, file)).body;
    const path = `/v1/media/${idOf(file)}`;
    expectProblem(await other.get(path), 'media_not_found');
    expectProblem(await other.delete(path), 'media_not_found');
    expectProblem(await other.get(`${path}/upload`), 'media_not_found');
    expect((await other.get('/v1/media')).body.items).toEqual([]);
    expectProblem(await other.send('PUT', path, { body: Buffer.from('x') }), 'media_not_accepted');
    expect((await upload(other, file)).status).toBe(201);
    expect((await first.delete(path)).status).toBe(204);
    await service.clock.advance(3 * 60 * 60_000);
    expect((await service.send('GET', url)).text).toBe(file.toString());
    const tenant = (await other.get('/v1/me')).body.tenantId;
    expect((await platform.delete(`/v1/tenants/${tenant}`)).status).toBe(204);
    expectProblem(await service.send('GET', url), 'not_found');
    await service.close();
  });
});

describe('PUT /v1/media/:id in parts', () => {
  const part = 256 * 1024;

  it('202 with what was received, then 201', async () => {
    const file = fresh(3 * part + 7);
    const path = `/v1/media/${idOf(file)}`;
    expectProblem(await admin.get(`${path}/upload`), 'media_not_found');
    for (const offset of [0, part, 2 * part]) {
      const answer = await uploadPart(admin, file, offset, offset + part);
      expect([answer.status, answer.body]).toEqual([202, { received: offset + part }]);
      expect((await admin.get(`${path}/upload`)).body).toEqual({ received: offset + part });
    }
    expectProblem(await admin.get(path), 'media_not_found');
    const last = await uploadPart(admin, file, 3 * part, file.length);
    expect([last.status, last.body.bytes]).toEqual([201, file.length]);
    expectProblem(await admin.get(`${path}/upload`), 'media_not_found');
    expect(files().filter((name) => name.includes('-'))).toEqual([]);
    expect((await uploadPart(admin, file, 0, part)).status).toBe(200);
  });

  it('409 media_offset with what was received, for a gap, a repetition and an overlap', async () => {
    const file = fresh(4 * part);
    for (const offset of [1, part])
      expectProblem(await uploadPart(admin, file, offset, offset + part), 'media_offset', {
        received: 0,
      });
    await uploadPart(admin, file, 0, part);
    for (const offset of [0, part - 1, part + 1, 2 * part])
      expectProblem(await uploadPart(admin, file, offset, offset + part), 'media_offset', {
        received: part,
      });
  });

  it('400 for a part beyond its file, an empty one, and a small one that is not the last', async () => {
    const file = fresh(2 * part);
    const path = `/v1/media/${idOf(file)}`;
    const send = (query: string, bytes: number) =>
      admin.send('PUT', `${path}?${query}`, { body: file.subarray(0, bytes), untyped: true });
    expectInvalid(await send('offset=0&size=9', 10), 'query.size');
    expectInvalid(await send(`offset=${file.length}&size=${file.length}`, 1), 'query.size');
    expectInvalid(await send(`offset=0&size=${file.length}`, 0), 'header.content-length');
    expectInvalid(await send(`offset=0&size=${file.length}`, part - 1), 'header.content-length');
    expectProblem(await admin.get(`${path}/upload`), 'media_not_found');
  });

  it('415 for the first part of a file of another type', async () => {
    const file = Buffer.alloc(2 * part, 'x');
    expectProblem(await uploadPart(admin, file, 0, part), 'media_not_accepted');
    expectProblem(await admin.get(`/v1/media/${idOf(file)}/upload`), 'media_not_found');
  });

  it('400 digest_mismatch at the end, and starts again', async () => {
    const file = fresh(2 * part);
    const path = `/v1/media/${idOf(file)}`;
    await uploadPart(admin, file, 0, part);
    const wrong = Buffer.alloc(part, ' ');
    wrong[0] = 0x0a;
    const last = await admin.send('PUT', `${path}?offset=${part}&size=${file.length}`, {
      body: wrong,
      untyped: true,
    });
    expectProblem(last, 'digest_mismatch');
    expectProblem(await admin.get(`${path}/upload`), 'media_not_found');
  });

  it('starts again when the size changes', async () => {
    const file = fresh(3 * part);
    const path = `/v1/media/${idOf(file)}`;
    await admin.send('PUT', `${path}?offset=0&size=${2 * part}`, {
      body: file.subarray(0, part),
      untyped: true,
    });
    expectProblem(await uploadPart(admin, file, part, 2 * part), 'media_offset', { received: 0 });
    expect((await uploadPart(admin, file, 0, part)).body).toEqual({ received: part });
  });

  it('counts unfinished uploads to the quota, and ends them after some minutes', async () => {
    const service = await startService({ mediaLimitMiB: 4, mediaQuotaMiB: 4 });
    const admin = manager(service);
    const big = fresh(3 * mebibyte);
    expect((await uploadPart(admin, big, 0, part)).status).toBe(202);
    const other = fresh(2 * mebibyte);
    expectProblem(await upload(admin, other), 'media_quota_exceeded');
    await service.clock.advance(2 * 60_000);
    expect((await uploadPart(admin, big, part, 2 * part)).status).toBe(202);
    await expect
      .poll(async () => {
        await service.clock.advance(60_000);
        return (await admin.get(`/v1/media/${idOf(big)}/upload`)).status;
      })
      .toBe(404);
    expect((await upload(admin, other)).status).toBe(201);
    await service.close();
  });
});

describe('the quota', () => {
  it('413 media_quota_exceeded, also for files that arrive together; a deletion frees its part', async () => {
    const service = await startService({ mediaLimitMiB: 2, mediaQuotaMiB: 2 });
    const admin = manager(service);
    const together = Array.from({ length: 4 }, () => fresh(0.9 * mebibyte));
    const answers = await Promise.all(together.map((file) => upload(admin, file)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 413, 413]);
    const [first] = (await admin.get('/v1/media')).body.items;
    await admin.delete(`/v1/media/${first.id}`);
    expect((await upload(admin, fresh(0.9 * mebibyte))).status).toBe(201);
    await service.close();
  });
});

describe('uploads of one token', () => {
  it('503 unavailable for more than 4 at a time', async () => {
    const all = Array.from({ length: 6 }, () => fresh(mebibyte / 2));
    const answers = await Promise.all(all.map((file) => upload(admin, file)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(4);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 'unavailable');
  });
});

describe('GET /v1/media', () => {
  it('lists pages, with the filters name and search', async () => {
    const tenant = manager(await startService());
    for (const name of ['Menu.svg', 'Offer.svg', 'offer 2.svg'])
      await upload(tenant, fresh(), `?name=${encodeURIComponent(name)}`);
    const { pages, items } = await walk(tenant, '/v1/media', 2);
    expect([pages, items.map(({ name }) => name).toSorted()]).toEqual([
      2,
      ['Menu.svg', 'Offer.svg', 'offer 2.svg'],
    ]);
    const named = (query: string) => tenant.get(`/v1/media?${query}`);
    expect((await named('search=offer')).body.items).toHaveLength(2);
    expect((await named('name=menu.SVG')).body.items).toHaveLength(1);
    expectInvalid(await named('cursor=x'), 'query.cursor');
  });
});

describe('DELETE /v1/media/:id', () => {
  it('204; the path is 404 at once, and the bytes go after an hour', async () => {
    const service = await startService({ store: join(folder, 'deletion') }, serveBelieving);
    const admin = manager(service);
    const file = fresh();
    const { url } = (await upload(admin, file)).body;
    const stored = () =>
      readdirSync(join(folder, 'deletion/media'), { recursive: true }).map(String);
    expect((await admin.delete(`/v1/media/${idOf(file)}`)).status).toBe(204);
    expectProblem(await admin.get(`/v1/media/${idOf(file)}`), 'media_not_found');
    expectProblem(await service.send('GET', url), 'not_found');
    await service.clock.advance(50 * 60_000);
    expect(stored().join()).toContain(idOf(file));
    await service.clock.advance(15 * 60_000);
    await expect.poll(() => stored().join()).not.toContain(idOf(file));
    await service.close();
  });

  it('keeps the bytes of a file that is uploaded again', async () => {
    const service = await startService();
    const admin = manager(service);
    const file = fresh();
    const { url } = (await upload(admin, file)).body;
    await admin.delete(`/v1/media/${idOf(file)}`);
    expect((await upload(admin, file)).status).toBe(201);
    await service.clock.advance(3 * 60 * 60_000);
    expect((await service.send('GET', url)).text).toBe(file.toString());
    await service.close();
  });
});

describe('a token bound to venues', () => {
  it('sees and deletes only what it has uploaded, and never by force', async () => {
    const { id } = await admin.venue(`Media site ${++count}`);
    const reach = { role: 'operator', venueIds: [id] };
    const token = async () =>
      manager(service, (await admin.newToken({ name: `Bound ${++count}`, ...reach })).token);
    const [one, other] = [await token(), await token()];
    const [mine, ours] = [fresh(), fresh()];
    await upload(admin, ours);
    expect((await upload(one, mine)).status).toBe(201);
    expect((await one.get('/v1/media')).body.items.map(({ id }: { id: string }) => id)).toEqual([
      idOf(mine),
    ]);
    expectProblem(await other.get(`/v1/media/${idOf(mine)}`), 'media_not_found');
    expectProblem(await one.get(`/v1/media/${idOf(ours)}`), 'media_not_found');
    expect((await upload(one, ours)).status).toBe(200);
    expect((await one.get(`/v1/media/${idOf(ours)}`)).status).toBe(200);
    const path = `/v1/media/${idOf(mine)}`;
    expectProblem(await one.delete(`${path}?force=true`), 'insufficient_role');
    expect((await one.delete(path)).status).toBe(204);
  });
});

describe('a service without media', () => {
  it('501 not_supported names the option', async () => {
    const admin = manager(await startService({ media: 'none' }));
    const answer = await upload(admin, fresh());
    expectProblem(answer, 'not_supported');
    expect([answer.status, answer.body.detail]).toEqual([501, expect.stringContaining('--media')]);
    expect((await admin.get('/v1/media')).body.items).toEqual([]);
  });
});

it('503 for a 65th unfinished upload of a tenant, while the others go on', async () => {
  const other = await startService({ mediaQuotaMiB: 64 });
  const caller = manager(other);
  const part = 256 * 1024;
  const begin = (number: number) => uploadPart(caller, someFile(number, part + 1000), 0, part);
  for (let number = 1; number <= 64; number++) expect((await begin(number)).status).toBe(202);
  expectProblem(await begin(65), 'unavailable');
  const first = someFile(1, part + 1000);
  expect((await uploadPart(caller, first, part, first.length)).status).toBe(201);
  expect((await begin(65)).status).toBe(202);
  await other.close();
});
