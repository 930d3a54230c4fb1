// Web pages of other origins, at operations that need no credential.
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../src/serve.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import { startService } from '../../support/service/service.ts';

const open = Object.values<Operation>(operations).filter(
  ({ access, method }) => access === 'public' && method !== 'GET',
);
// The end of a login request has no body: test/http/access/logins.test.ts.
const paths = open.filter(({ method }) => method === 'POST').map(({ path }) => path);
const json = { 'content-type': 'application/json' };
const foreign = 'https://evil.example';
const bodyOf = (path: string) =>
  JSON.stringify(
    path.endsWith('/logins')
      ? { user: 'alice', host: 'desk' }
      : { pairingCode: 'ZZZZ9999', deviceInfo: {} },
  );

interface Seen {
  status: number;
  code: string | undefined;
  isCounted: boolean;
}

/** Sends what a browser would, with its own `Host` and `Origin`. */
function post(url: string, path: string, headers: Record<string, string>): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { method: 'POST', headers }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      const { code } = JSON.parse(Buffer.concat(chunks).toString());
      const isCounted = answer.headers.ratelimit !== undefined;
      resolve({ status: answer.statusCode ?? 0, code, isCounted });
    });
    request.on('error', reject);
    request.end(bodyOf(path));
  });
}

/** Sends the same through the mounted `fetch`. */
async function fetched(path: string, headers: Record<string, string>): Promise<Seen> {
  const service = await serve({ store: 'memory:', listen: false });
  const info = { remoteAddress: '203.0.113.7' };
  const init = { method: 'POST', headers, body: new TextEncoder().encode(bodyOf(path)) };
  const answer = await service.fetch(new Request(`http://tv.example${path}`, init), info);
  const { code } = (await answer.json()) as { code?: string };
  await service.close();
  return { status: answer.status, code, isCounted: answer.headers.has('ratelimit') };
}

const refused = { status: 403, code: 'origin_refused', isCounted: false };
const untyped = { status: 415, code: 'unsupported_media_type', isCounted: false };

it('covers registrations, claims and login requests', () =>
  expect(paths).toEqual(['/devices/register', '/devices/claims', '/v1/logins']));

describe.each(paths)('POST %s', (path) => {
  /** The answer to a request that passes. */
  const passed = path === '/devices/register' ? 404 : 201;

  it.each<[string, Record<string, string>]>([
    ['an untyped body and a foreign origin', { origin: foreign }],
    ['an untyped body and no origin of its own', { origin: 'null' }],
    ['JSON and a foreign origin', { ...json, origin: foreign }],
    [
      'a foreign origin that says it is of the same site',
      { origin: foreign, 'sec-fetch-site': 'same-site' },
    ],
    ['cross-site without an origin', { ...json, 'sec-fetch-site': 'cross-site' }],
    ['an origin that is none', { ...json, origin: 'https://' }],
  ])('403 before it counts for %s', async (_, headers) => {
    const service = await startService();
    for (let time = 0; time < 20; time++)
      expect(await post(service.url, path, headers)).toEqual(refused);
    expect(await fetched(path, headers)).toEqual(refused);
    // Nothing was counted: the address still has all its tries.
    for (let time = 0; time < 5; time++)
      expect((await post(service.url, path, json)).status).toBe(passed);
    await service.close();
  });

  it('403 with other origins allowed, and passes for these', async () => {
    const service = await startService({ corsOrigins: ['https://tv.example'] });
    expect(await post(service.url, path, { origin: foreign })).toEqual(refused);
    const headers = { origin: 'https://tv.example', 'sec-fetch-site': 'cross-site' };
    expect((await post(service.url, path, { ...json, ...headers })).status).toBe(passed);
    await service.close();
    const any = await startService({ corsOrigins: ['*'] });
    expect((await post(any.url, path, { ...json, origin: foreign })).status).toBe(passed);
    await any.close();
  });

  it('passes for the web player, native TVs and packaged apps', async () => {
    const service = await startService();
    const { host } = new URL(service.url);
    const pages: Record<string, string>[] = [
      json,
      {},
      { ...json, origin: service.url },
      { ...json, origin: `https://${host}` },
      { ...json, origin: 'https://tv.example', host: 'tv.example:443' },
      { ...json, origin: 'https://tv.example', 'x-forwarded-host': 'TV.example' },
      { ...json, origin: 'https://tv.example', 'sec-fetch-site': 'same-origin' },
      { ...json, origin: 'null', 'sec-fetch-site': 'cross-site' },
      { ...json, origin: 'file://' },
    ];
    for (const headers of pages) {
      const { status } = await post(service.url, path, headers);
      expect([passed, 429], JSON.stringify(headers)).toContain(status);
    }
    await service.close();
    const named = await startService({ publicUrl: 'https://signage.example/tvs' });
    const headers = { ...json, origin: 'https://signage.example' };
    expect((await post(named.url, `/tvs${path}`, headers)).status).toBe(passed);
    await named.close();
  });

  it('415 for a page of the service without a content type', async () => {
    const service = await startService();
    expect(await post(service.url, path, { origin: service.url })).toEqual(untyped);
    await service.close();
  });
});
