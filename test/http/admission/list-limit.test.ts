// Limits the concurrent lists of a token, so that they cannot delay TVs (docs/protocol.md §1.8).
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ListLimit, type ListSlot } from '../../../src/http/request/list-limit.ts';
import type { ServedRequest } from '../../../src/http/request/request-context.ts';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Reader, Store } from '../../../src/store/store.ts';
import { screenRow } from '../../store/sample-rows.ts';
import { item } from '../../support/service/content.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { silentSocket } from '../../support/tv/raw-client.ts';

describe('ListLimit', () => {
  let limit: ListLimit;
  beforeEach(() => {
    limit = new ListLimit();
  });
  const enter = (token = 'a', isHeld = false) => limit.enter(token, isHeld, {});
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('runs 4 requests of a token, queues 32, and rejects more with a Retry-After', async () => {
    const begun: ListSlot[] = [];
    for (let n = 0; n < 36; n++) void enter().then((turn) => begun.push(turn));
    await settled();
    expect(begun.length).toBe(4);
    await expect(enter()).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    begun[0]?.close();
    await settled();
    expect(begun.length).toBe(4);
    begun[0]?.settle();
    begun[0]?.close();
    await settled();
    expect(begun.length).toBe(5);
  });

  it('queues any number of long polls of a token, apart from its other requests', async () => {
    const begun: ListSlot[] = [];
    for (let n = 0; n < 100; n++) void enter('a', true).then((turn) => begun.push(turn));
    await enter('a');
    await settled();
    for (let place = 0; place < begun.length; place++) {
      begun[place]?.pause();
      await settled();
    }
    expect(begun.length).toBe(100);
    await begun[0]?.resume();
  });

  it('does not count a wait towards overload', async () => {
    let ended = 0;
    const incoming = Object.assign(new EventEmitter(), {
      socket: { destroyed: false },
      admission: { verified() {}, end: () => void ended++ },
    }) as unknown as ServedRequest;
    for (let n = 0; n < 4; n++) await limit.enter('a', false, { incoming });
    expect(ended).toBe(0);
    void limit.enter('a', false, { incoming });
    expect(ended).toBe(1);
  });

  it('keeps no state for an idle token', async () => {
    const turns = await Promise.all([enter('a'), enter('a'), enter('a', true), enter('b')]);
    expect(limit.size).toBe(3);
    for (const turn of turns) {
      turn.settle();
      turn.close();
    }
    expect(limit.size).toBe(0);
  });
});

describe('lists of one token', () => {
  let held: (() => void)[];
  let asked: number;
  let isHeld: boolean;
  /** Look-ups of credentials that wait. `undefined`: they do not wait. */
  let lookUps: (() => void)[] | undefined;
  let service: TestService;
  beforeEach(async () => {
    held = [];
    asked = 0;
    isHeld = false;
    lookUps = undefined;
    const list: Store['list'] = async (...query) => {
      if (query[0] === 'venues') {
        asked++;
        if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      }
      return inner.list(...query);
    };
    let inner: Store;
    const open: typeof openStore = async (...options) => {
      inner = await openStore(...options);
      const find: Reader['find'] = async (...key) => {
        await new Promise<void>((resolve) => (lookUps ? lookUps.push(resolve) : resolve()));
        return inner.read.find(...key);
      };
      return decorateStore(inner, { list, read: decorateStore(inner.read, { find }) });
    };
    service = await startService({}, (options = {}) => serveOn(open, options));
    isHeld = true;
  });
  afterEach(async () => {
    isHeld = false;
    for (const go of held) go();
    await service.close();
  });

  /** Requests the venues on a new connection, without reading the response. */
  async function ask(): Promise<Socket> {
    const socket = await silentSocket(service.url);
    socket.write(
      `GET /v1/venues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
    );
    return socket;
  }
  const release = (count = held.length) => {
    for (const go of held.splice(0, count)) go();
  };

  it('run 4 at a time, 32 wait, and more are answered 503 with a Retry-After', async () => {
    for (let n = 0; n < 36; n++) await ask();
    await expect.poll(() => asked).toBe(4);
    await expect.poll(async () => (await service.manage('GET', '/v1/venues')).status).toBe(503);
    const refused = await service.manage('GET', '/v1/venues');
    expect(refused.body.code).toBe('unavailable');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(asked).toBe(4);
    expect((await service.manage('GET', '/v1/me')).status).toBe(200);
    const other = await service.token('viewer');
    const ofOther = service.send('GET', '/v1/venues', { key: other });
    await expect.poll(() => asked).toBe(5);
    isHeld = false;
    release();
    expect((await ofOther).status).toBe(200);
    await expect.poll(() => asked).toBe(37);
    expect((await service.manage('GET', '/v1/venues')).status).toBe(200);
  });

  it('are not begun for clients that disconnected while waiting', async () => {
    for (let n = 0; n < 4; n++) await ask();
    await expect.poll(() => asked).toBe(4);
    const gone = await Promise.all(Array.from({ length: 10 }, () => ask()));
    await service.manage('GET', '/v1/me');
    for (const socket of gone) socket.destroy();
    await service.manage('GET', '/v1/me');
    isHeld = false;
    release();
    expect((await service.manage('GET', '/v1/venues')).status).toBe(200);
    expect(asked).toBe(5);
  });

  it('are 401, and read nothing, when their token was deleted while they waited', async () => {
    const token = { name: 'Short-lived', role: 'viewer' };
    const { body } = await service.manage('POST', '/v1/tokens', token);
    const list = () => service.send('GET', '/v1/venues', { key: body.token });
    const running = Array.from({ length: 4 }, list);
    await expect.poll(() => asked).toBe(4);
    const waiting = Array.from({ length: 32 }, list);
    await expect.poll(async () => (await list()).status).toBe(503);
    expect((await service.manage('DELETE', `/v1/tokens/${body.id}`)).status).toBe(204);
    isHeld = false;
    release();
    await Promise.all(running);
    for (const answer of await Promise.all(waiting))
      expectProblem(answer, 401, 'credential_invalid');
    expect(asked).toBe(4);
  });

  it('are not begun for clients that disconnected during the look-up of their token', async () => {
    isHeld = false;
    const waiting: (() => void)[] = [];
    lookUps = waiting;
    const clients = await Promise.all([ask(), ask(), ask(), ask()]);
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    for (const client of clients) client.destroy();
    // Then the service has noticed it.
    for (let n = 0; n < 5; n++) await service.send('GET', '/healthz');
    lookUps = undefined;
    for (const go of waiting) go();
    expect((await service.manage('GET', '/v1/venues')).status).toBe(200);
    expect(asked).toBe(1);
  });

  it('keep their places after their clients disconnected, until their work has ended', async () => {
    const clients = await Promise.all([ask(), ask(), ask(), ask()]);
    await expect.poll(() => asked).toBe(4);
    for (const client of clients) client.destroy();
    const waiting = service.manage('GET', '/v1/venues');
    for (let n = 0; n < 5; n++) await service.manage('GET', '/v1/me');
    expect(asked).toBe(4);
    isHeld = false;
    release();
    expect((await waiting).status).toBe(200);
    expect(asked).toBe(5);
  });
});

describe('large lists', () => {
  it('of a client that reads nothing keep their places until it disconnects', async () => {
    const service = await startService();
    const { id } = await service.screen();
    for (let n = 0; n < 2; n++) {
      const { status } = await service.manage('PUT', `/v1/screens/${id}/playlist`, {
        items: [item({ n, text: 'x'.repeat(1_000_000) })],
      });
      expect(status).toBe(200);
    }
    const path = `/v1/screens/${id}/playlists`;
    const sockets = await Promise.all(
      Array.from({ length: 36 }, async () => {
        const socket = await silentSocket(service.url);
        // Several, because the kernel buffers a part of the first.
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`.repeat(
            12,
          ),
        );
        return socket;
      }),
    );
    const status = () =>
      service.manage('GET', path, undefined, { signal: AbortSignal.timeout(500) }).then(
        (answer) => answer.status,
        () => 0,
      );
    await expect.poll(status, { timeout: 20_000 }).toBe(503);
    for (const socket of sockets) socket.destroy();
    await expect.poll(status, { timeout: 10_000 }).toBe(200);
    await service.close();
  });

  it('of clients that leave during their scans end, and never more than 4 are at work', async () => {
    let atWork = 0;
    let most = 0;
    let begun = 0;
    let inner: Store | undefined;
    const open: typeof openStore = async (...options) => {
      const opened = await openStore(...options);
      inner = opened;
      const list: Store['list'] = async (...query) => {
        if (query[0] !== 'screens') return opened.list(...query);
        begun++;
        most = Math.max(most, ++atWork);
        return opened.list(...query).finally(() => atWork--);
      };
      return decorateStore(opened, { list });
    };
    const service = await startService({}, (options = {}) => serveOn(open, options));
    const tenantId = (await inner?.list('tenants', { limit: 1 }))?.items[0]?.id as string;
    await inner?.write(async (tx) => {
      for (let n = 0; n < 5_000; n++) await tx.put('screens', screenRow(n, { tenantId }));
    });
    for (let n = 1; n <= 20; n++) {
      const socket = await silentSocket(service.url);
      socket.write(
        `GET /v1/screens?search=nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
      );
      await expect.poll(() => begun, { interval: 1, timeout: 10_000 }).toBe(n);
      socket.destroy();
    }
    await expect.poll(() => atWork).toBe(0);
    expect(most).toBeLessThanOrEqual(4);
    await service.close();
  });
});
