import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../src/domain/error.ts';
import { mediaRoutes } from '../../../src/http/handlers/static-file.ts';
import { demoMedia } from '../../../src/service/demo.ts';

function appOf(files: ReadonlyMap<string, Uint8Array>): Hono {
  const app = new Hono();
  app.route('/', mediaRoutes(files, false));
  app.onError((error, context) =>
    hasCode(error, 'not_found') ? context.text('not_found', 404) : context.text(String(error), 500),
  );
  return app;
}

const fixtures = appOf(demoMedia());

describe('GET /media/:name', () => {
  it.each([
    ['welcome.svg', 'image/svg+xml; charset=utf-8'],
    ['flat-white.svg', 'image/svg+xml; charset=utf-8'],
    ['jazz-night.svg', 'image/svg+xml; charset=utf-8'],
    ['menu-board.html', 'text/html; charset=utf-8'],
  ])('serves %s as %s', async (name, type) => {
    const response = await fixtures.request(`/media/${name}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')!.toLowerCase()).toBe(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect((await response.arrayBuffer()).byteLength).toBe(
      Number(response.headers.get('content-length')),
    );
  });

  it('sandboxes creatives: scripts run, but load nothing and have no shared origin', async () => {
    const policy = (await fixtures.request('/media/menu-board.html')).headers.get(
      'content-security-policy',
    )!;
    expect(policy).toContain('sandbox allow-scripts;');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/allow-same-origin|https?:|\*/);
  });

  it('can be loaded by players of any origin', async () => {
    const { headers } = await fixtures.request('/media/welcome.svg');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  it('answers 304 for its ETag, and 200 for another', async () => {
    const etag = (await fixtures.request('/media/welcome.svg')).headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const ask = (known: string) =>
      fixtures.request('/media/welcome.svg', { headers: { 'If-None-Match': known } });
    expect((await ask(etag)).status).toBe(304);
    expect((await ask('"other"')).status).toBe(200);
  });

  it('answers HEAD as GET without the body', async () => {
    const response = await fixtures.request('/media/welcome.svg', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(1000);
    expect(await response.text()).toBe('');
  });

  it('404 not_found when there is no such file', async () => {
    const response = await fixtures.request('/media/nothing.png');
    expect([response.status, await response.text()]).toEqual([404, 'not_found']);
  });
});

describe('GET /media/… with path traversal', () => {
  const app = appOf(new Map([['plain.txt', Buffer.from('of plain.txt')]]));

  it('serves the files it was given', async () => {
    expect(await (await app.request('/media/plain.txt')).text()).toBe('of plain.txt');
  });

  it.each([
    '/media/../secret.txt',
    '/media/..%2fsecret.txt',
    '/media/..%2Fsecret.txt',
    '/media/%2e%2e/secret.txt',
    '/media/%2e%2e%2fsecret.txt',
    '/media/..%5csecret.txt',
    '/media/..%252fsecret.txt',
    '/media/plain.txt%00',
    '/media/plain.txt/',
    '/media/./plain.txt%2f..%2f..%2fsecret.txt',
    '/media//plain.txt',
    '/media/%2fetc%2fpasswd',
    '/media/../package.json',
    '/media/',
    '/media/%',
    '/media/__proto__',
  ])('404 for %s', async (path) => {
    // A `Request` would normalize the path. A socket does not, so this test must not either.
    const request = new Request('http://tv.test/');
    Object.defineProperty(request, 'url', { value: `http://tv.test${path}` });
    expect((await app.fetch(request)).status).toBe(404);
  });
});
