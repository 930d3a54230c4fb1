// The files of the web player, as `npm run build` makes them, and how the service serves them.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { parse } from 'acorn';
import { beforeAll, describe, expect, it } from 'vitest';
import { assetNames, readAsset } from '../../../src/package/assets.ts';
import { expectProblem } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const names = assetNames('web');
const nameOf = (pattern: RegExp) => names.find((name) => pattern.test(name)) ?? 'missing';
const script = nameOf(/^app\.[0-9a-f]{16}\.js$/);
const style = nameOf(/^app\.[0-9a-f]{16}\.css$/);
const engine = nameOf(/^engine\.[0-9a-f]{16}\.js$/);
const german = nameOf(/^de\.[0-9a-f]{16}\.json$/);
const check = nameOf(/^check\.[0-9a-f]{16}\.js$/);
const contentOf = (name: string) => readAsset('web', name);

const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self' https: http:",
  'img-src': 'blob: data: https: http:',
  'media-src': 'blob: https: http:',
  'frame-src': 'https: http:',
  'worker-src': "'self'",
  'manifest-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

describe('the bundle of the web player', () => {
  it('has at most 114 KB, and 38 KB with gzip', () => {
    const bytes = contentOf(script);
    expect(bytes.length).toBeLessThanOrEqual(114_000);
    expect(gzipSync(bytes).length).toBeLessThanOrEqual(38_000);
  });

  it('is ES2017, for Chromium 63', () => {
    for (const name of [script, check, 'sw.js']) {
      const text = contentOf(name).toString();
      expect(() => parse(text, { ecmaVersion: 2017 })).not.toThrow();
      // The bundler moves newer regular expressions into strings. These came with Chromium 64.
      expect(text).not.toMatch(/\\p\{|\(\?<[a-z]/i);
    }
  });

  it('tells old browsers why it cannot start in ES5', () => {
    expect(() => parse(contentOf(engine).toString(), { ecmaVersion: 5 })).not.toThrow();
  });

  it('contains the licence of the package inside', () => {
    expect(contentOf('idb.LICENSE.txt').toString()).toContain('Permission to use, copy, modify');
  });
});

describe('GET /player', () => {
  let service: TestService;
  const get = (path: string) => service.send('GET', path);
  beforeAll(async () => {
    service = await startService();
  });

  it('is a page that is never stored, without inline code', async () => {
    const { status, headers, text } = await get('/player');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=/i);
    const loaded = [...text.matchAll(/(?:src|href)="(player\/[^"]+)"/g)].map(([, path]) => path);
    expect(loaded).toEqual(
      ['manifest.webmanifest', style, engine, script].map((name) => `player/${name}`),
    );
  });

  it.each(['/player', `/player/${script}`, '/player/sw.js'])(
    '%s carries the content security policy',
    async (path) => {
      const { headers } = await get(path);
      const directives = headers.get('content-security-policy')!.split('; ');
      const parsed = directives.map((one) => [
        one.split(' ')[0],
        one.split(' ').slice(1).join(' '),
      ]);
      expect(Object.fromEntries(parsed)).toEqual(policy);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('origin-agent-cluster')).toBe('?1');
      const permissions = headers.get('permissions-policy')?.split(', ') ?? [];
      expect(permissions).toEqual(expect.arrayContaining(['camera=()', 'serial=()']));
      const granted = permissions.filter((one) => !one.endsWith('=()'));
      expect(granted).toEqual(['screen-wake-lock=(self)']);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it.each([
    [script, /^text\/javascript/],
    [engine, /^text\/javascript/],
    [check, /^text\/javascript/],
    [style, /^text\/css/],
    [german, /^application\/json/],
  ])('/player/%s may be stored for a year', async (name, type) => {
    const { status, headers, text } = await get(`/player/${name}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(type);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(text).toBe(contentOf(name).toString());
  });

  it('/player/sw.js is checked at each start, and may control /player', async () => {
    const { status, headers } = await get('/player/sw.js');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('service-worker-allowed')).toBe('/player');
  });

  it('allows the Service Worker below the path of the public URL', async () => {
    const mounted = await startService({ publicUrl: 'https://example.com/signage' });
    const { headers } = await mounted.send('GET', '/signage/player/sw.js');
    expect(headers.get('service-worker-allowed')).toBe('/signage/player');
  });

  it('redirects /player/ to /player, where relative URLs resolve', async () => {
    const { status, headers } = await get('/player/');
    expect(status).toBe(301);
    expect(headers.get('location')).toBe('../player');
  });

  it.each(['/player/index.html', '/player/app.js', '/player/idb.LICENSE.txt', '/player/x'])(
    '404 for %s',
    async (path) => expectProblem(await get(path), 'not_found'),
  );

  it('405 for other methods', async () => {
    const answer = await service.send('POST', '/player', { body: {} });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });

  it('404 with the option player: false', async () => {
    const without = await startService({ player: false });
    for (const path of ['/player', `/player/${script}`, '/player/sw.js'])
      expectProblem(await without.send('GET', path), 'not_found');
  });
});

it.each(['/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/v1/screens', '/x', '/player/'])(
  '%s never has the origin of the player in a frame',
  async (path) => {
    const { headers } = await (await startService()).send('GET', path);
    expect(headers.get('content-security-policy')).toBe('sandbox');
  },
);

it('the pages of the service run only their own scripts', async () => {
  const { headers } = await (await startService()).send('GET', '/docs');
  expect(headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const docsScript = readFileSync(
    new URL('../../../src/http/docs/page.js', import.meta.url),
    'utf8',
  );
  expect(docsScript).not.toMatch(/localStorage|persistAuthorization/);
});
