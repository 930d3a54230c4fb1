import { describe, expect, it } from 'vitest';
import { docsRoutes } from '../../../src/http/docs/docs-routes.ts';

const app = docsRoutes(false);
const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
const origins = (text: string) =>
  [...text.matchAll(/(?:https?:)?\/\/[a-z0-9-]+\.[a-z]/gi)].map(([origin]) => origin);

/** Returns the paths of this service that a page loads. */
async function loadedBy(page: string): Promise<string[]> {
  const html = await (await get(page)).text();
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map(([, address]) => address!)
    .filter((address) => address !== 'data:,');
  return addresses.map((address) =>
    new URL(address, `http://tv.test${page}`).href.replace('http://tv.test', ''),
  );
}

describe('GET /docs', () => {
  it('is a page that shows /openapi.json', async () => {
    const response = await get('/docs');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i);
    expect(await loadedBy('/docs')).toContain('/openapi.json');
    expect(await (await get('/docs/page.js')).text()).toContain("url: 'openapi.json'");
  });

  it.each([
    ['/docs/page.css', /^text\/css/],
    ['/docs/page.js', /^text\/javascript/],
    ['/docs/swagger-ui.css', /^text\/css/],
    ['/docs/swagger-ui-bundle.js', /^text\/javascript/],
  ])('loads %s, which the service serves', async (path, type) => {
    expect(await loadedBy('/docs')).toContain(path);
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await response.arrayBuffer()).byteLength).toBe(
      Number(response.headers.get('content-length')),
    );
  });

  it('loads nothing else', async () => {
    const ours = [
      '/docs/page.css',
      '/docs/page.js',
      '/docs/swagger-ui.css',
      '/docs/swagger-ui-bundle.js',
      '/openapi.json',
    ];
    expect((await loadedBy('/docs')).toSorted()).toEqual(ours.toSorted());
  });

  it.each(['/docs', '/docs/page.css', '/docs/page.js'])(
    '%s references no other origin',
    async (path) => {
      expect(origins(await (await get(path)).text())).toEqual([]);
    },
  );

  it('has styles that load nothing but data: images', async () => {
    const css = await (await get('/docs/swagger-ui.css')).text();
    const loaded = [...css.matchAll(/url\(\s*["']?([^"')]{0,20})/g)].map(([, start]) => start!);
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter((start) => !start.startsWith('data:image/'))).toEqual([]);
    expect(css).not.toContain('@import');
  });

  it('disables the requests of Swagger UI to other hosts', async () => {
    expect(await (await get('/docs/page.js')).text()).toContain('validatorUrl: null');
  });

  it.each(['/docs', '/docs/page.js', '/docs/swagger-ui-bundle.js'])(
    '%s forbids inline code, eval and every other origin',
    async (path) => {
      const policy = (await get(path)).headers.get('content-security-policy')!;
      const directives = Object.fromEntries(
        policy.split('; ').map((one) => [one.split(' ')[0], one.split(' ').slice(1).join(' ')]),
      );
      expect(directives).toEqual({
        'default-src': "'self'",
        'img-src': "'self' data:",
        'object-src': "'none'",
        'base-uri': "'none'",
        'form-action': "'none'",
        'frame-ancestors': "'none'",
      });
    },
  );

  it('has no inline script, style or handler, which the policy would block', async () => {
    const html = await (await get('/docs')).text();
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=/i);
  });

  it('redirects browsers from / to /docs, and no other clients', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(browser.status).toBe(302);
    expect(browser.headers.get('location')).toBe('docs');
    expect(browser.headers.get('vary')).toContain('Accept');
    expect((await get('/', { accept: '*/*' })).status).toBe(404);
    expect((await get('/')).status).toBe(404);
  });

  it('redirects /docs/ to /docs, where relative URLs resolve', async () => {
    const response = await get('/docs/');
    expect(response.status).toBe(301);
    expect(new URL(response.headers.get('location')!, 'http://tv.test/docs/').pathname).toBe(
      '/docs',
    );
  });

  it.each([
    '/docs/index.html',
    '/docs/docs-routes.ts',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/..%2f..%2fpackage.json',
  ])('404 for %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});
