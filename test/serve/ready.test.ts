// The state of the store when the service begins to listen.
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { type Running, serve, serveOn } from '../../src/serve.ts';
import { openStore } from '../../src/store/location/open.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { freePort } from '../support/network/free-port.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { managerAt } from '../support/service/service.ts';

const [given, changed] = ['mak_firstFirstFirstFirstFirst', 'mak_secondSecondSecondSecond'] as const;

const opened: (Running | Server)[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** Returns whether something accepts connections on the port. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function takenPort(): Promise<number> {
  const stranger = createServer().listen(0, '127.0.0.1');
  opened.push(stranger);
  await once(stranger, 'listening');
  return (stranger.address() as { port: number }).port;
}

/** Starts the service, and delays the first change of its store until `release`. */
async function startHeld(options: ServeOptions) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached = () => {};
  const writing = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const running = serveOn(async (...arguments_) => {
    const store = await openStore(...arguments_);
    const write = store.write.bind(store);
    store.write = async (change) => {
      reached();
      await released;
      return write(change);
    };
    return store;
  }, options);
  await writing;
  return { release, running };
}

const start = async (options: ServeOptions) => {
  const running = await serve({ port: 0, ...options });
  opened.push(running);
  return running;
};
const me = async ({ url }: Running, token: string | undefined) =>
  (await managerAt(url, token).get('/v1/me')).status;
const stores = [
  ['an embedded store', temporaryFolder],
  ['PostgreSQL', freshDatabase],
] as const;

describe.each(stores)('serve on %s', (_, freshStore) => {
  it.each([
    ['a first start with a token given', given],
    ['a first start that makes its token', undefined],
  ])('refuses connections until the platform token is durable: %s', async (_name, adminToken) => {
    const port = await freePort();
    const { release, running } = await startHeld({
      port,
      store: await freshStore(),
      ...(adminToken && { adminToken }),
    });
    expect(await accepts(port)).toBe(false);
    release();
    opened.push(await running);
    expect(await me(await running, (await running).adminToken)).toBe(200);
  });

  it('refuses connections at a restart until the changed token is durable', async () => {
    const store = await freshStore();
    await (await serve({ port: 0, store, adminToken: given })).close();
    const port = await freePort();
    const { release, running } = await startHeld({ port, store, adminToken: changed });
    expect(await accepts(port)).toBe(false);
    release();
    opened.push(await running);
    expect([await me(await running, changed), await me(await running, given)]).toEqual([200, 401]);
  });
});

describe('the platform token', () => {
  it('is passed to keepToken before connections are accepted', async () => {
    const port = await freePort();
    const handed: unknown[] = [];
    const keepToken = async (token: string) => void handed.push(token, await accepts(port));
    const { adminToken } = await start({ port, store: await temporaryFolder(), keepToken });
    expect(handed).toEqual([adminToken, false]);
  });

  it('is not passed to keepToken when it was given, nor at a second start', async () => {
    const store = await temporaryFolder();
    const keepToken = () => Promise.reject(new Error('There is none to keep.'));
    await (await serve({ port: 0, store, adminToken: given, keepToken })).close();
    expect((await start({ store, keepToken })).adminToken).toBeUndefined();
  });

  it.each([
    ['cannot listen', async () => ({ port: await takenPort() })],
    [
      'cannot hand over its token',
      async () => ({ keepToken: () => Promise.reject(new Error('The disk is full.')) }),
    ],
  ])('is deleted when the first start %s, and the next creates another', async (_name, reason) => {
    const store = await temporaryFolder();
    await expect(serve({ port: 0, store, ...(await reason()) })).rejects.toThrow();
    const running = await start({ store });
    expect(await me(running, running.adminToken)).toBe(200);
    const admin = managerAt(running.url, running.adminToken);
    expect((await admin.get('/v1/tenants')).body.items).toMatchObject([{ name: 'default' }]);
    expect((await admin.get('/v1/tokens')).body.items).toHaveLength(1);
  });

  it('is kept by a start that cannot listen, when it was given', async () => {
    const store = await temporaryFolder();
    await expect(
      serve({ port: await takenPort(), store, adminToken: given }),
    ).rejects.toMatchObject({ code: 'port_taken' });
    expect(await me(await start({ store }), given)).toBe(200);
  });
});
