// Requests that are rejected by their headers, before their body is read (docs/protocol.md §1.3).
import { beforeAll, describe, expect, it } from 'vitest';
import { type Manager, manager } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { rawClient } from '../../support/tv/raw-client.ts';

const mebibyte = 1024 * 1024;

let service: TestService;
let admin: Manager;
let tv: BoundTv;

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  tv = await service.tv();
});

const open = () => rawClient(service.url);

interface Head {
  path?: string;
  key?: string | undefined;
  type?: string;
  length?: number | 'chunked';
  more?: string[];
}

function head({
  path = `/devices/${tv.screenId}/events`,
  key = tv.apiKey,
  type = 'application/json',
  length = mebibyte,
  more = [],
}: Head): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${key}`,
    `Content-Type: ${type}`,
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const expectContinue = ['Expect: 100-continue'];

/** Heads that are rejected, with status and code. */
const rejected: [status: number, code: string, head: Head][] = [
  [401, 'device_key_invalid', { key: 'dak_x' }],
  [401, 'device_key_invalid', { key: 'dak_x', length: 100 * mebibyte, type: 'text/plain' }],
  [413, 'body_too_large', { length: mebibyte + 1, type: 'text/plain' }],
  [413, 'body_too_large', { path: '/devices/register', length: 16_385 }],
  [415, 'unsupported_media_type', { type: 'text/plain' }],
  [415, 'unsupported_media_type', { more: ['Content-Encoding: gzip'] }],
  [404, 'not_found', { path: '/nowhere' }],
  [405, 'method_not_allowed', { path: '/v1/me' }],
];

/** Sends a head alone. Returns the answer, after which the service closes the connection. */
async function answerTo(sent: Head): Promise<string> {
  const { socket, until, closed } = await open();
  socket.write(head(sent));
  const text = await until(/\}$/);
  // The service does not wait for the body: the connection cannot be used for anything else.
  await closed;
  return text;
}

describe('a request without a byte of its body', () => {
  it.each(rejected)('%i %s', async (status, code, sent) => {
    const text = await answerTo(sent);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain(`"code":"${code}"`);
  });
});

describe('Expect: 100-continue', () => {
  it.each(rejected)('%i %s without 100', async (status, code, sent) => {
    const text = await answerTo({ ...sent, more: [...(sent.more ?? []), ...expectContinue] });
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain(`"code":"${code}"`);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
  });

  it.each([
    ['of a small body', 0],
    ['of a large body', 20_000],
  ])('100 when credential, size and type are right %s, then the answer', async (_, padding) => {
    const body = `[{"type":"heartbeat","timestamp":1760000000}]${' '.repeat(padding)}`;
    const { socket, until } = await open();
    socket.write(head({ length: body.length, more: expectContinue }));
    expect(await until(/\r\n\r\n$/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    expect(await until(/\{"received":1\}$/)).toMatch(/\r\n\r\nHTTP\/1\.1 202 /);
    // The connection goes on.
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(/"status":"ok"/);
  });

  it('100 for a chunked body once the credential is checked', async () => {
    const { socket, until } = await open();
    const path = '/v1/venues';
    socket.write(head({ path, key: admin.token, length: 'chunked', more: expectContinue }));
    await until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    socket.write('11\r\n{"name":"Awaited"}\r\n0\r\n\r\n'.replace('11', '12'));
    expect(await until(/\}$/)).toMatch(/\r\n\r\nHTTP\/1\.1 201 /);
  });

  it('needs no body for an endpoint that takes none', async () => {
    const { socket, until } = await open();
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n');
    expect(await until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('the rest of a rejected body', () => {
  it.each([
    ['401', { key: 'dak_x', length: mebibyte }],
    ['413', { length: 3 * mebibyte }],
    ['415', { type: 'text/plain', length: mebibyte }],
  ])('is read after %s, and the connection goes on', async (status, sent) => {
    const { socket, until, text } = await open();
    socket.write(head(sent) + ' '.repeat(sent.length));
    await until(/\}$/);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(/"status":"ok"/);
    expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 200']);
  });

  it('is not read for long: the connection is closed within a second', async () => {
    const { socket, until, closed } = await open();
    socket.write(head({ key: 'dak_x', length: 100_000 * mebibyte }));
    const piece = Buffer.alloc(64 * 1024, ' ');
    const more = () => {
      while (socket.writable && socket.write(piece));
    };
    socket.on('drain', more);
    more();
    expect(await until(/\}$/)).toMatch(/^HTTP\/1\.1 401 /);
    const startedMs = performance.now();
    await closed;
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
