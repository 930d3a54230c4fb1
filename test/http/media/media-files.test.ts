// GET /media/<id>.<extension>: what players get (docs/protocol.md §5.14).
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { truncate, unlink } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { expectProblem, manager } from '../../support/service/management.ts';
import { idOf, someFile, upload } from '../../support/service/media.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const file = someFile(1, 600_000);
const id = idOf(file);
const path = `/media/${id}.svg`;
let service: TestService;

beforeAll(async () => {
  service = await startService();
  expect((await upload(manager(service), file)).status).toBe(201);
});

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(service.url + path, { method, headers });
/** Returns the status alone. A service with an unread answer takes 10 seconds to close. */
async function statusOf(answering: Promise<Response>): Promise<number> {
  const answer = await answering;
  await answer.arrayBuffer();
  return answer.status;
}

describe('GET /media/:id.:ext', () => {
  it('200 with the bytes, for any origin and for a year, sandboxed', async () => {
    const answer = await get({ Origin: 'https://tv.example' });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-length': String(file.length),
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'content-security-policy': expect.stringMatching(
        /^sandbox allow-scripts; default-src 'none'/,
      ),
      etag: `"${id}"`,
    });
    const body = Buffer.from(await answer.arrayBuffer());
    expect(createHash('sha256').update(body).digest('hex')).toBe(id);
  });

  it('HEAD has the same headers', async () => {
    const answer = await get({}, 'HEAD');
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
      200,
      String(file.length),
      '',
    ]);
  });

  it('404 for GET and HEAD when the media folder lacks the file, or its end', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const other = await startService({ store: folder });
    const { url } = (await upload(manager(other), file)).body;
    const stored = join(folder, 'media', id.slice(0, 2), id);
    const statuses = async (headers: Record<string, string> = {}) =>
      Promise.all(
        ['GET', 'HEAD'].map((method) => statusOf(fetch(other.url + url, { method, headers }))),
      );
    expect(await statuses()).toEqual([200, 200]);
    await truncate(stored, 1000);
    expect(await statuses()).toEqual([404, 404]);
    expect(await statuses({ Range: 'bytes=-1' })).toEqual([404, 404]);
    expect(await statuses({ Range: 'bytes=0-999' })).toEqual([206, 206]);
    await unlink(stored);
    expect(await statuses({ Range: 'bytes=0-999' })).toEqual([404, 404]);
  });

  it('304 for its ETag', async () => {
    expect(await statusOf(get({ 'If-None-Match': `"x", W/"${id}"` }))).toBe(304);
    expect(await statusOf(get({ 'If-None-Match': '"x"' }))).toBe(200);
  });

  const size = file.length;
  it.each<[string, number, number]>([
    ['bytes=0-0', 0, 0],
    ['bytes=0-99', 0, 99],
    ['bytes=262143-262144', 262_143, 262_144],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ['bytes=599990-999999999999', 599_990, size - 1],
    ['bytes=-10', size - 10, size - 1],
    [`bytes=-${size + 1}`, 0, size - 1],
  ])('206 for Range: %s', async (range, start, end) => {
    const answer = await get({ Range: range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end}/${size}`,
    ]);
    const body = Buffer.from(await answer.arrayBuffer());
    expect(body.equals(file.subarray(start, end + 1))).toBe(true);
  });

  it.each([
    `bytes=${size}-`,
    `bytes=${size}-${size + 5}`,
    'bytes=-0',
    'bytes=99999999999999999999-',
  ])('416 for Range: %s', async (range) => {
    const answer = await service.send('GET', path, { headers: { Range: range } });
    expectProblem(answer, 'range_not_satisfiable');
    expect(answer.headers.get('content-range')).toBe(`bytes */${size}`);
  });

  it.each(['bytes=5-4', 'bytes=0-1,3-4', 'bytes=a-b', 'bytes=-', 'lines=1-2', 'bytes=1--2', ''])(
    '200 with the whole file for Range: %s',
    async (range) => {
      const answer = await get({ Range: range });
      expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, size]);
    },
  );

  it('ignores a range of another version of the file', async () => {
    const range = { Range: 'bytes=0-9' };
    expect(await statusOf(get({ ...range, 'If-Range': '"other"' }))).toBe(200);
    expect(await statusOf(get({ ...range, 'If-Range': `"${id}"` }))).toBe(206);
  });

  it.each([
    `/media/${id}.png`,
    `/media/${id}.html`,
    `/media/${id}`,
    `/media/${id}.svg/x`,
    `/media/${id.toUpperCase()}.svg`,
    `/media/${'0'.repeat(64)}.svg`,
    `/media/parts%2f..%2f${id}.svg`,
    '/media/incomplete',
  ])('404 for %s', async (other) => {
    expectProblem(await service.send('GET', other), 'not_found');
  });

  it('405 for a change, and 204 for the preflight of a range', async () => {
    expectProblem(await service.send('PUT', path, { body: 'x' }), 'method_not_allowed');
    const answer = await fetch(service.url + path, {
      method: 'OPTIONS',
      headers: { Origin: 'https://tv.example', 'Access-Control-Request-Method': 'GET' },
    });
    expect([answer.status, answer.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('Range'),
    ]);
  });

  it('frees the place of a client that leaves: 65 abandoned downloads stop no other', async () => {
    const big = someFile(2, 30 * 1024 * 1024);
    const { url } = (await upload(manager(service), big)).body;
    const abandon = async () => {
      const request = httpRequest(service.url + url).end();
      const [answer] = await once(request, 'response');
      answer.on('error', () => {});
      await once(answer, 'readable');
      request.destroy();
    };
    await Promise.all(Array.from({ length: 65 }, abandon));
    expect(await statusOf(fetch(service.url + url))).toBe(200);
  });
});
