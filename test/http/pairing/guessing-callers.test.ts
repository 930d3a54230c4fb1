// Attribution of guesses: in a server of one's own, behind proxies, and over reset connections.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/domain/log.ts';
import type { RequestInfo, ServeOptions } from '../../../src/serve/serve-options.ts';
import { type Running, serve } from '../../../src/serve.ts';
import { recordMaker } from '../../support/management.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { adminToken, managerAt, sendTo, startService } from '../../support/service.ts';

/** Codes that are never generated, because they contain excluded characters. */
let guesses = 0;
const wrong = () => `0000${String(guesses++ % 10_000).padStart(4, '0')}`;

const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

type Infos = (remoteAddress: string | undefined) => RequestInfo | undefined;

/**
 * Starts a service mounted in another server. `infoOf` returns the info that this server passes for
 * a connection.
 */
async function mounted(infoOf: Infos, options: ServeOptions = {}) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  const running = await serve({
    port: 0,
    store: 'memory:',
    adminToken,
    clock: new ManualClock(),
    log,
    ...options,
  });
  closes.push(() => running.close());
  const answer = getRequestListener(
    (request, env) =>
      running.fetch(
        request,
        infoOf(
          (env as { incoming: { socket: { remoteAddress?: string } } }).incoming.socket
            .remoteAddress,
        ),
      ),
    {
      overrideGlobalObjects: false,
      errorHandler: (error) =>
        new Response((error as { code?: string }).code ?? 'none', { status: 599 }),
    },
  );
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  closes.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { running, url, warnings, ...callersOf(url, running) };
}

function callersOf(url: string, running: Running) {
  const headersOf = (address?: string): Record<string, string> =>
    address === undefined ? {} : { 'x-forwarded-for': address };
  const register = async (pairingCode: string, address?: string, base = url) =>
    (
      await sendTo(base, 'POST', '/devices/register', {
        headers: headersOf(address),
        body: { pairingCode, deviceInfo: {} },
      })
    ).status;
  const manage = async (path: string, body?: unknown, address?: string) =>
    (
      await sendTo(url, body === undefined ? 'GET' : 'POST', path, {
        key: adminToken,
        headers: headersOf(address),
        body,
      })
    ).body;
  const records = recordMaker(() => managerAt(running.url));
  return {
    register,
    manage,
    /** Sends unknown codes from one caller. Returns the distinct statuses. */
    async guess(count: number, address?: string) {
      const statuses = [];
      for (let n = 0; n < count; n++) statuses.push(await register(wrong(), address));
      return {
        told: statuses.filter((status) => status === 404).length,
        refused: statuses.filter((status) => status === 429).length,
      };
    },
    /**
     * Created over the service's own listener, so that the mounted service has not seen the caller.
     */
    code: async (): Promise<string> => (await records.code()).code,
  };
}

describe('a service mounted with the addresses of its callers', () => {
  const behindProxy: Infos = (remoteAddress) => ({ remoteAddress });

  it('locks out the guessing address only', async () => {
    const service = await mounted(behindProxy, { trustProxy: ['127.0.0.0/8'] });
    expect(await service.guess(12, '203.0.113.7:4711')).toEqual({ told: 10, refused: 2 });
    const code = await service.code();
    expect(await service.register(code, '203.0.113.7')).toBe(429);
    expect(await service.register(code, '203.0.113.8')).toBe(201);
    expect(service.warnings.filter((message) => message.includes('remoteAddress'))).toEqual([]);
  });

  it('ignores X-Forwarded-For unless it comes from a trusted proxy', async () => {
    const service = await mounted(behindProxy, { trustProxy: ['10.0.0.0/8'] });
    let told = 0;
    for (let n = 0; n < 15; n++)
      if ((await service.register(wrong(), `203.0.113.${n}`)) === 404) told++;
    expect(told).toBe(10);
  });

  it('records them in the audit trail and on devices, and trusts addresses where a token worked or a TV registered', async () => {
    const service = await mounted(behindProxy, { trustProxy: ['127.0.0.1'] });
    expect(await service.register(await service.code(), '"[2001:db8::1]:80"')).toBe(201);
    const { items } = await service.manage('/v1/audit?action=device.register');
    expect(items).toMatchObject([{ address: '2001:db8::1' }]);
    expect((await service.manage('/v1/devices')).items).toMatchObject([
      { lastAddress: '2001:db8::1' },
    ]);
    expect(await service.guess(7, '2001:db8::2')).toEqual({ told: 6, refused: 1 });
    expect(await service.register(await service.code(), '2001:db8::3')).toBe(201);
    await service.manage('/v1/screens', undefined, '203.0.113.9');
    expect((await service.guess(11, '203.0.113.9')).refused).toBe(1);
    expect(await service.register(await service.code(), '203.0.113.9')).toBe(201);
  });

  it('rejects requests of reset connections, and does not count them', async () => {
    const service = await mounted(() => ({ remoteAddress: undefined }));
    for (let n = 0; n < 140; n++) expect(await service.register(wrong())).toBe(400);
    expect(await service.register(wrong(), undefined, service.running.url)).toBe(404);
  });

  it('rejects with invalid_option for a malformed address', async () => {
    const service = await mounted(() => ({ remoteAddress: 'localhost' }));
    expect((await sendTo(service.url, 'GET', '/healthz', {})).text).toBe('invalid_option');
  });
});

describe('a service mounted without the addresses of its callers', () => {
  it('logs one warning, at the first registration', async () => {
    const service = await mounted(() => undefined);
    await sendTo(service.url, 'GET', '/healthz', {});
    expect(service.warnings).toEqual([]);
    await service.guess(3);
    expect(service.warnings).toEqual([expect.stringContaining('remoteAddress')]);
  });

  it('404 for half of all unknown codes, then 429; callers with an address are not affected', async () => {
    const service = await mounted(() => undefined);
    const code = await service.code();
    const second = await service.code();
    expect(await service.guess(40)).toEqual({ told: 40, refused: 0 });
    expect(await service.register(code)).toBe(201);
    expect(await service.guess(40)).toEqual({ told: 24, refused: 16 });
    expect(await service.register(second)).toBe(429);
    expect(await service.register(second, undefined, service.running.url)).toBe(201);
    const { items } = await service.manage('/v1/audit?action=registration.locked_out');
    expect(items).toMatchObject([
      { subject: { kind: 'source', id: 'unknown' }, address: null, details: { unknownCodes: 64 } },
    ]);
  });
});

describe('connections that are reset as soon as a registration is sent', () => {
  /** Sends a registration and immediately resets the connection. */
  async function sendAndReset(url: string): Promise<void> {
    const body = JSON.stringify({ pairingCode: wrong(), deviceInfo: {} });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.write(
      `POST /devices/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.resetAndDestroy(),
    );
    await once(socket, 'close');
  }

  it('count at most ten guesses for their address, and lock out nobody else', async () => {
    const service = await startService({ trustProxy: ['127.0.0.2'] });
    await Promise.all(Array.from({ length: 300 }, () => sendAndReset(service.url)));
    expect((await service.send('GET', '/healthz')).status).toBe(200);
    const { items } = (await service.manage('GET', '/v1/audit?action=registration.locked_out'))
      .body;
    expect(
      items.filter(({ subject }: { subject: { kind: string } }) => subject.kind === 'service'),
    ).toEqual([]);
    expect(
      items.every(({ subject }: { subject: { id: string } }) => subject.id === '127.0.0.1'),
    ).toBe(true);
  });
});
