// Loop budget: of simultaneous requests, only as many begin in one turn of the event loop as its
// budget allows.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeLoopBudget } from '../../../src/http/admission/loop-budget.ts';
import { startListener } from '../../support/tv/raw-client.ts';

const longMs = 20;

describe('the loop budget', () => {
  let nowMs: number;
  let submit: (request: [name: string, takesMs: number]) => void;
  let begun: string[];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setImmediate'] });
    nowMs = 1000;
    begun = [];
    submit = makeLoopBudget({
      begin([name, takesMs]) {
        begun.push(name);
        if (name === 'X') throw new Error('broken');
        if (name === 'N') arrive('mn', longMs);
        nowMs += takesMs;
      },
      isUrgent: ([name]) => name === '!',
      maxWaiting: 10,
      now: () => nowMs,
    });
  });
  afterEach(() => void vi.useRealTimers());

  const arrive = (names: string, takesMs: number) => {
    for (const name of names) submit([name, takesMs]);
  };
  const turns = (count: number) => {
    for (let n = 0; n < count; n++) {
      begun.push('|');
      vi.runOnlyPendingTimers();
    }
  };
  const expectDone = (order: string) => {
    expect(begun.join('')).toBe(order);
    expect(vi.getTimerCount()).toBe(0);
  };

  it('begins quick requests together, after all have arrived', () => {
    arrive('abcdefgh', 0.5);
    expect(begun.join('')).toBe('');
    turns(1);
    expectDone('|abcdefgh');
  });

  it('begins slow requests one per turn, in order of arrival', () => {
    arrive('abc', longMs);
    turns(1);
    arrive('d', longMs);
    turns(3);
    expectDone('|a|b|c|d');
  });

  it('begins as many requests as fit the budget', () => {
    arrive('abcdefgh', 2);
    turns(3);
    expectDone('|abc|def|gh');
  });

  it('begins a waiting request together with those that arrive in the next turn', () => {
    arrive('abcd', 2);
    turns(1);
    arrive('ef', 2);
    turns(1);
    expectDone('|abc|def');
  });

  it('begins requests that arrive while another one begins', () => {
    arrive('aN', longMs);
    turns(4);
    expectDone('|a|N|m|n');
  });

  it('begins urgent requests at once', () => {
    arrive('abc!', longMs);
    expect(begun.join('')).toBe('!');
    turns(3);
    expectDone('!|a|b|c');
  });

  it('begins the requests after one that throws', () => {
    arrive('aXb', longMs);
    turns(1);
    expect(() => turns(1)).toThrow('broken');
    turns(1);
    expectDone('|a|Xb|');
  });

  it('begins the oldest request when too many wait, and each only once', () => {
    arrive('abcdefghij', longMs);
    expect(begun.join('')).toBe('');
    arrive('klm', 0.5);
    expect(begun.join('')).toBe('abc');
    turns(8);
    expectDone('abc|d|e|f|g|h|i|j|klm');
  });

  it('begins all of many requests', () => {
    const many = 'abcdefghij';
    arrive(many, longMs);
    for (let n = 0; n < 20; n++) arrive(many, 0.01);
    for (let n = 0; n < 30; n++) vi.runOnlyPendingTimers();
    expectDone(many.repeat(21));
  });
});

const head = (method: string, path: number | string) =>
  `${method} /${path} HTTP/1.1\r\nHost: x\r\n`;

describe('requests of many connections', () => {
  let listener: Awaited<ReturnType<typeof startListener>>;
  let turn: number;
  let begun: { path: string; turn: number }[];
  let admitted: (string | undefined)[];
  let counting: NodeJS.Immediate;

  beforeEach(async () => {
    turn = 0;
    begun = [];
    admitted = [];
    const count = () => {
      turn++;
      counting = setImmediate(count);
    };
    counting = setImmediate(count);
    const fetch = async (request: Request) => {
      const path = new URL(request.url).pathname;
      if (path === '/first') return new Response('done');
      begun.push({ path, turn });
      await undefined;
      for (const until = performance.now() + longMs; performance.now() < until; );
      return new Response('done');
    };
    const admit = ({ url }: IncomingMessage) => admitted.push(url) > 0;
    const isKnown = ({ url }: IncomingMessage) => url?.startsWith('/stranger') !== true;
    listener = await startListener({ fetch, admit, isKnown });
  });
  afterEach(() => clearImmediate(counting));

  /** Connections that have each received a response. */
  async function clients(count: number): Promise<Socket[]> {
    const { port } = new URL(listener.url);
    const sockets = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1'));
    await Promise.all(
      sockets.map((socket) => {
        socket.write(`${head('GET', 'first')}\r\n`);
        return once(socket, 'data');
      }),
    );
    return sockets;
  }

  it('begin one per turn when they are slow', async () => {
    const sockets = await clients(6);
    for (const [n, socket] of sockets.entries())
      socket.write(`${head('GET', n)}Connection: close\r\n\r\n`);
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
    expect(begun.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5']);
    expect(new Set(begun.map((one) => one.turn)).size).toBe(6);
  });

  it.each(['/healthz', '/readyz', '/metrics'])('begin after %s, a health probe', async (path) => {
    const sockets = await clients(7);
    for (const [n, socket] of sockets.entries())
      socket.write(`${head('GET', n === 6 ? path.slice(1) : n)}Connection: close\r\n\r\n`);
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
    const paths = begun.map((one) => one.path);
    expect(paths.slice(0, 2)).toContain(path);
    expect(paths.filter((one) => one !== path)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5']);
  });

  it('alternate with strangers, however many of these came first', async () => {
    const sockets = await clients(12);
    for (const [n, socket] of sockets.entries())
      socket.write(`${head('GET', n < 6 ? `stranger/${n}` : n)}Connection: close\r\n\r\n`);
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
    const paths = begun.map(({ path }) => path);
    expect(new Set(paths).size).toBe(12);
    // Each turn begins one of either kind.
    expect(paths.indexOf('/7')).toBeLessThan(paths.indexOf('/stranger/3'));
  });

  it('begin during a flood of probes, all of which are answered', async () => {
    const sockets = await clients(12);
    for (const [n, socket] of sockets.entries())
      socket.write(`${head('GET', n < 6 ? 'readyz' : n)}Connection: close\r\n\r\n`);
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
    expect(begun.map(({ path }) => path).filter((path) => path === '/readyz').length).toBe(6);
  });

  it.each([
    ['has arrived', `${head('GET', 'last')}\r\n`],
    ['has arrived with its body', `${head('POST', 'last')}Content-Length: 5\r\n\r\nwhole`],
    [
      'has arrived in part',
      `${head('POST', 'last')}Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n`,
    ],
  ])(
    'never begin when their client disconnects while they wait: one that %s',
    async (_, request) => {
      const sockets = await clients(8);
      const last = sockets.pop() as Socket;
      for (const [n, socket] of sockets.entries())
        socket.write(`${head('GET', n)}Connection: close\r\n\r\n`);
      last.write(request);
      await once(sockets[0] as Socket, 'data');
      last.destroy();
      await Promise.all(sockets.slice(1).map((socket) => once(socket, 'close')));
      await sleep(longMs);
      expect(begun.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5', '/6']);
      expect(admitted).not.toContain('/last');
    },
  );
});
