// Paths whose segments a URL parser would resolve (docs/protocol.md §1.3).
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../../src/serve.ts';
import { rawRequest } from '../../support/service/raw-request.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ publicUrl: 'http://example.com/signage' });
});

const answerTo = (url: string, path: string) =>
  rawRequest(
    url,
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nConnection: close\r\n\r\n`,
  );

describe('400 malformed_request for the path', () => {
  it.each([
    '/player/../v1/me',
    '/player/%2e%2e/v1/me',
    '/player/.%2E/v1/me',
    '/./v1/me',
    '/v1/%2e/me',
    '/v1/me/..',
    '/v1/me/.?a=b',
    '/player\\..\\v1/me',
    '/signage/../v1/me',
    'http://x/player/../v1/me',
    '/devices/../v1/me',
  ])('%s', async (path) => {
    const text = await answerTo(service.url, path);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"malformed_request"');
  });
});

it.each(['/v1/me', '/v1/me?path=/../x', '/signage/v1/me'])('200 for the path %s', async (path) => {
  expect(await answerTo(service.url, path)).toMatch(/^HTTP\/1\.1 200 /);
});

it.each(['/v1/..me', '/v1/me...', '/v1/.well'])('404 for the path %s', async (path) => {
  expect(await answerTo(service.url, path)).toMatch(/^HTTP\/1\.1 404 /);
});

it('400 malformed_request from a service mounted in the server of another program', async () => {
  const running = await serve({ listen: false, store: 'memory:', adminToken });
  const server = createServer(running.nodeHandler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const text = await answerTo(`http://127.0.0.1:${port}`, '/player/%2e%2e/v1/me');
  server.close();
  await running.close();
  expect(text).toContain('"code":"malformed_request"');
});
