// Attribution of guesses: in a server of one's own, behind proxies, and over reset connections.
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/domain/log.ts';
import type { RequestInfo, ServeOptions } from '../../../src/serve/serve-options.ts';
import { type Running, serve } from '../../../src/serve.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { recordMaker } from '../../support/service/management.ts';
import { managerAt, type Sent, sendTo, startService } from '../../support/service/service.ts';
import { silentSocket } from '../../support/tv/raw-client.ts';

/** Codes that are never generated, because they contain excluded characters. */
let guesses = 0;
const wrong = () => `0000${String(guesses++ % 10_000).padStart(4, '0')}`;

type Infos = (remoteAddress: string | undefined) => RequestInfo | undefined;

/** Starts a server with a service in it, to which it passes this info about each connection. */
async function listenFor(running: Running, infoOf: Infos): Promise<string> {
  const answer = getRequestListener(
    (request, env) => {
      const { incoming } = env as { incoming: { socket: { remoteAddress?: string } } };
      return running.fetch(request, infoOf(incoming.socket.remoteAddress));
    },
    {
      overrideGlobalObjects: false,
      errorHandler: (error) =>
        new Response((error as { code?: string }).code ?? 'none', { status: 599 }),
    },
  );
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  return (await startLocally(server)).url;
}

const from = (address?: string): Sent => ({
  headers: address === undefined ? {} : { 'x-forwarded-for': address },
});
/** Starts a service mounted in another server. */
async function mounted(infoOf: Infos, options: ServeOptions = {}) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  let listener = '';
  const service = await startService({ log, ...options }, async (all) => {
    const running = await serve(all);
    listener = running.url;
    return { ...running, url: await listenFor(running, infoOf) };
  });
  // Created over the service's own listener, so that the mounted service has not seen the caller.
  const records = recordMaker(() => managerAt(listener));
  const register = async (code: string, address?: string) =>
    (await service.register(code, from(address))).status;
  const body = (pairingCode: string) => ({ body: { pairingCode, deviceInfo: {} } });
  return {
    warnings,
    send: service.send,
    read: async (path: string, address?: string) =>
      (await service.manage('GET', path, undefined, from(address))).body.items,
    register,
    registerAtListener: async (code: string) =>
      (await sendTo(listener, 'POST', '/devices/register', body(code))).status,
    /** Sends unknown codes from one caller. Returns how many got each status. */
    async guess(count: number, address?: string) {
      const statuses: number[] = [];
      for (let n = 0; n < count; n++) statuses.push(await register(wrong(), address));
      const countOf = (status: number) => statuses.filter((one) => one === status).length;
      return { told: countOf(404), refused: countOf(429) };
    },
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
    const statuses = [];
    for (let n = 0; n < 15; n++) statuses.push(await service.register(wrong(), `203.0.113.${n}`));
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
  });

  it('records them in the audit trail and on devices, and trusts addresses where a token worked or a TV registered', async () => {
    const service = await mounted(behindProxy, { trustProxy: ['127.0.0.1'] });
    expect(await service.register(await service.code(), '"[2001:db8::1]:80"')).toBe(201);
    expect(await service.read('/v1/audit?action=device.register')).toMatchObject([
      { address: '2001:db8::1' },
    ]);
    expect(await service.read('/v1/devices')).toMatchObject([{ lastAddress: '2001:db8::1' }]);
    expect(await service.guess(7, '2001:db8::2')).toEqual({ told: 6, refused: 1 });
    expect(await service.register(await service.code(), '2001:db8::3')).toBe(201);
    await service.read('/v1/screens', '203.0.113.9');
    expect((await service.guess(11, '203.0.113.9')).refused).toBe(1);
    expect(await service.register(await service.code(), '203.0.113.9')).toBe(201);
  });

  it('rejects requests of reset connections, and does not count them', async () => {
    const service = await mounted(() => ({ remoteAddress: undefined }));
    const statuses = await Promise.all(
      Array.from({ length: 140 }, () => service.register(wrong())),
    );
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect(await service.registerAtListener(wrong())).toBe(404);
  });

  it('rejects with invalid_option for a malformed address', async () => {
    const service = await mounted(() => ({ remoteAddress: 'localhost' }));
    expect((await service.send('GET', '/healthz')).text).toBe('invalid_option');
  });
});

describe('a service mounted without the addresses of its callers', () => {
  it('logs one warning, at the first registration', async () => {
    const service = await mounted(() => undefined);
    await service.send('GET', '/healthz');
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
    expect(await service.registerAtListener(second)).toBe(201);
    expect(await service.read('/v1/audit?action=registration.locked_out')).toMatchObject([
      { subject: { kind: 'source', id: 'unknown' }, address: null, details: { unknownCodes: 64 } },
    ]);
  });
});

describe('connections that are reset as soon as a registration is sent', () => {
  /** Sends a registration and immediately resets the connection. */
  async function sendAndReset(url: string): Promise<void> {
    const body = JSON.stringify({ pairingCode: wrong(), deviceInfo: {} });
    const socket = await silentSocket(url);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST /devices/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.resetAndDestroy(),
    );
    await closed;
  }

  it('count at most ten guesses for their address, and lock out nobody else', async () => {
    const service = await startService({ trustProxy: ['127.0.0.2'] });
    await Promise.all(Array.from({ length: 300 }, () => sendAndReset(service.url)));
    expect((await service.send('GET', '/healthz')).status).toBe(200);
    const { body } = await service.manage('GET', '/v1/audit?action=registration.locked_out');
    const subjects = body.items.map(({ subject }: { subject: object }) => subject);
    for (const subject of subjects) expect(subject).toEqual({ kind: 'source', id: '127.0.0.1' });
  });
});
