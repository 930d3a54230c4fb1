// Content codings of responses (docs/protocol.md §1.9).
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCompressAnswer, preferredCoding } from '../../../src/http/request/compression.ts';
import { serve } from '../../../src/serve.ts';
import { item, type Manager, manager } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let tv: BoundTv;

interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** As received: `undici.request` decodes nothing. */
  bytes: Buffer;
}

async function receive(
  path: string,
  headers: Record<string, string> = {},
  { url, method = 'GET' }: { url?: string; method?: 'GET' | 'HEAD' } = {},
): Promise<Received> {
  const answer = await request(`${url ?? service.url}${path}`, { method, headers });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers, bytes };
}

const decode = ({ headers, bytes }: Received): string => {
  const coding = headers['content-encoding'];
  if (coding === 'br') return brotliDecompressSync(bytes).toString();
  return coding === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString();
};

const manage = (accepted?: string): Record<string, string> => ({
  authorization: `Bearer ${admin.token}`,
  ...(accepted !== undefined && { 'accept-encoding': accepted }),
});

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  tv = await service.tv();
  for (let n = 0; n < 5; n++) await admin.venue(`Venue ${n} ${'x'.repeat(150)}`);
  await admin.put(`/v1/screens/${tv.screenId}/playlist`, {
    items: Array.from({ length: 20 }, (_, n) => item({ n })),
  });
});

describe('Accept-Encoding', () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0, br', 'br'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0', undefined],
    ['*;q=0, gzip', 'gzip'],
    ['identity', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['deflate, zstd', undefined],
    [';;;,=,"', undefined],
  ])('%s gets %s', (header, coding) => expect(preferredCoding(header)).toBe(coding));
});

describe.each(['gzip', 'br'])('%s', (coding) => {
  it.each([
    '/v1/venues',
    '/v1/audit',
    '/openapi.json',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui-bundle.js',
  ])('compresses %s to fewer bytes with the same content', async (path) => {
    const plain = await receive(path, manage());
    const small = await receive(path, manage(coding));
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.bytes.length).toBeGreaterThan(1024);
    expect(small.headers['content-encoding']).toBe(coding);
    expect(small.headers['content-type']).toBe(plain.headers['content-type']);
    expect(Number(small.headers['content-length'])).toBe(small.bytes.length);
    expect(small.bytes.length).toBeLessThan(plain.bytes.length);
    expect(decode(small)).toBe(plain.bytes.toString());
    for (const { headers } of [plain, small]) expect(headers.vary).toBe('Accept-Encoding');
  });

  it('gives a static file another strong ETag, which gets 304', async () => {
    const plain = await receive('/openapi.json');
    const small = await receive('/openapi.json', { 'accept-encoding': coding });
    expect(small.headers.etag).toMatch(/^"[\w-]{43}"$/);
    expect(small.headers.etag).not.toBe(plain.headers.etag);
    const ask = (etag: string) =>
      receive('/openapi.json', { 'accept-encoding': coding, 'if-none-match': etag });
    const unchanged = await ask(String(small.headers.etag));
    expect(unchanged).toMatchObject({ status: 304, bytes: Buffer.alloc(0) });
    expect(unchanged.headers).toMatchObject({ etag: small.headers.etag, vary: 'Accept-Encoding' });
    expect((await ask(String(plain.headers.etag))).status).toBe(200);
    expect((await ask('*')).status).toBe(304);
  });

  it('gives HEAD the headers of GET', async () => {
    for (const path of ['/openapi.json', '/v1/venues']) {
      const head = await receive(path, manage(coding), { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
      expect(head.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
    }
  });
});

it('does not compress up to 1 KiB, but names the header that others vary by', async () => {
  const { headers, bytes } = await receive('/v1/venues?limit=1', manage('gzip'));
  expect(bytes.length).toBeLessThanOrEqual(1024);
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers.vary).toBe('Accept-Encoding');
});

it('never compresses playlists, configs and answers with one record, and keeps their ETag', async () => {
  const ofTv = { authorization: `Bearer ${tv.apiKey}` };
  const paths: [string, Record<string, string>][] = [
    [`/devices/${tv.screenId}/playlist`, ofTv],
    [`/devices/${tv.screenId}/config`, ofTv],
    [`/v1/screens/${tv.screenId}/playlist`, manage()],
    [`/v1/screens/${tv.screenId}`, manage()],
  ];
  for (const [path, headers] of paths) {
    const plain = await receive(path, headers);
    const asked = await receive(path, { ...headers, 'accept-encoding': 'br, gzip' });
    expect(asked.bytes).toEqual(plain.bytes);
    expect(asked.headers.etag).toBe(plain.headers.etag);
    for (const name of ['content-encoding', 'vary']) expect(asked.headers[name]).toBeUndefined();
  }
});

it('does not compress errors', async () => {
  const { headers, bytes } = await receive('/v1/venues?nonsense=1', manage('gzip'));
  expect(headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(bytes.toString()).code).toBe('invalid_request');
});

it('is the same for a service that is mounted', async () => {
  const running = await serve({ port: 0, store: 'memory:' });
  const headers = { 'accept-encoding': 'gzip' };
  const answer = await running.fetch(new Request('http://signage.test/openapi.json', { headers }));
  const bytes = Buffer.from(await answer.arrayBuffer());
  await running.close();
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  expect(JSON.parse(gunzipSync(bytes).toString()).openapi).toMatch(/^3\./);
});

it('is off with `compression: false`, without Vary', async () => {
  const plain = await startService({ compression: false });
  const key = manager(plain);
  for (let n = 0; n < 5; n++) await key.venue(`Venue ${n} ${'x'.repeat(150)}`);
  for (const path of ['/v1/venues', '/openapi.json', '/docs/page.js']) {
    const { status, headers } = await receive(path, manage('br, gzip'), { url: plain.url });
    expect(status).toBe(200);
    for (const name of ['content-encoding', 'vary']) expect(headers[name]).toBeUndefined();
  }
});

it('compresses two lists at a time, and sends others uncompressed at once', async () => {
  const compressAnswer = makeCompressAnswer();
  const body = JSON.stringify({ items: Array.from({ length: 10_000 }, (_, n) => ({ n })) });
  const all = await Promise.all(
    Array.from({ length: 5 }, () =>
      compressAnswer({ status: 200, headers: {}, type: 'application/json', body }, 'gzip'),
    ),
  );
  const codings = all.map(({ headers }) => headers['Content-Encoding']);
  expect(codings).toEqual(['gzip', 'gzip', undefined, undefined, undefined]);
  for (const { headers } of all) expect(headers.Vary).toBe('Accept-Encoding');
  const later = await compressAnswer(
    { status: 200, headers: {}, type: 'application/json', body },
    'gzip',
  );
  expect(later.headers['Content-Encoding']).toBe('gzip');
});

it('compresses a static file once for many first requests', async () => {
  const fresh = await startService();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      receive('/docs/swagger-ui-bundle.js', { 'accept-encoding': 'br' }, { url: fresh.url }),
    ),
  );
  expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(1);
  for (const { bytes } of answers) expect(bytes.equals(answers[0]?.bytes ?? bytes)).toBe(true);
});

it('goes on when a client leaves while its list is being compressed', async () => {
  const { port } = new URL(service.url);
  for (let n = 0; n < 5; n++) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    const head = `GET /v1/venues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${admin.token}\r\nAccept-Encoding: br\r\n\r\n`;
    socket.write(head, () => socket.destroy());
  }
  // While the abandoned lists are still being compressed, further lists are sent as they are.
  await expect
    .poll(async () => (await receive('/v1/venues', manage('br'))).headers['content-encoding'])
    .toBe('br');
});
