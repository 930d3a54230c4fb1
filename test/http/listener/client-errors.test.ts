// Connections whose request times out, when many do so at once.
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeIdSource } from '../../../src/domain/id.ts';
import { makeEarlyErrors } from '../../../src/http/listener/early-errors.ts';
import { type RawClient, rawClient, startListener } from '../../support/tv/raw-client.ts';

const limits = { headersTimeout: 150, requestTimeout: 150, connectionsCheckingInterval: 50 };
const clients = 20;
const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n';
const cutOff = 'HTTP/1.1 408 ';

let url: string;
let onReject: () => void;
let answer: (request: Request) => Promise<Response>;

beforeEach(async () => {
  onReject = () => {};
  answer = async (request) => new Response(await request.text());
  const own = makeEarlyErrors({ newId: makeIdSource(systemClock), clock: systemClock });
  const connection: typeof own.connection = (socket, error) => {
    onReject();
    own.connection(socket, error);
  };
  const fetch = (request: Request) => answer(request);
  ({ url } = await startListener({ fetch, earlyErrors: { ...own, connection }, limits }));
});

const connectAll = () => Promise.all(Array.from({ length: clients }, () => rawClient(url)));

describe('many requests that time out at once', () => {
  it('are rejected one per turn of the event loop, so that other requests proceed', async () => {
    const all = await connectAll();
    const turns: number[] = [];
    let turn = 0;
    let counting = setImmediate(function count() {
      turn++;
      counting = setImmediate(count);
    });
    onReject = () => void turns.push(turn);
    for (const { socket } of all) socket.write(head);
    const texts = await Promise.all(all.map(({ closed }) => closed));
    clearImmediate(counting);
    expect(texts.filter((text) => text.startsWith(cutOff))).toHaveLength(clients);
    expect(new Set(turns).size).toBe(clients);
  });

  it('are answered, and keep their connection, if the request is completed before', async () => {
    const all = await connectAll();
    const last = all.pop() as RawClient;
    onReject = () => {
      last.socket.write('body');
      onReject = () => {};
    };
    for (const { socket } of [...all, last]) socket.write(head);
    expect(
      (await Promise.all(all.map(({ closed }) => closed))).filter((text) =>
        text.startsWith(cutOff),
      ),
    ).toHaveLength(all.length);
    last.socket.write(head.replace('Host', 'Connection: close\r\nHost'));
    last.socket.write('next');
    expect(await last.closed).toMatch(
      /^HTTP\/1.1 200 .*\r\n\r\nbodyHTTP\/1.1 200 .*\r\n\r\nnext$/s,
    );
  });

  it('are rejected even behind a complete request that is in progress', async () => {
    answer = () => new Promise(() => {});
    const { socket, closed } = await rawClient(url);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${head}`);
    expect(await closed).toMatch(cutOff);
  });
});
