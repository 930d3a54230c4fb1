import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { endInOnePiece } from '../../src/http/hot/one-piece.ts';
import { rawRequest } from '../support/raw-request.ts';

const body = '{"items":[]}';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that answers by `end`, and the pieces that it hands to its sockets. */
async function serving(end: (outgoing: ServerResponse) => void) {
  const pieces: string[] = [];
  const noting = (socket: Socket, member: '_write' | '_writev', textOf: (given: unknown) => string[]) => {
    const own = socket[member as '_write'];
    socket[member as '_write'] = function noted(...given) {
      pieces.push(...textOf(given[0]));
      return own.apply(this, given);
    };
  };
  const server = createServer((_, outgoing) => {
    outgoing.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(body.length)]);
    end(outgoing);
  });
  server.on('connection', (socket) => {
    noting(socket, '_write', (chunk) => [String(chunk)]);
    noting(socket, '_writev', (chunks) => (chunks as { chunk: unknown }[]).map(({ chunk }) => String(chunk)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const ask = (text: string) => rawRequest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, text);
  return { ask, pieces };
}

const dateless = (answer: string) => answer.replace(/Date: .*\r\n/g, '');
const asking = (connection: string) => `GET / HTTP/1.1\r\nHost: tv\r\nConnection: ${connection}\r\n\r\n`;

describe('an answer in one piece', () => {
  it('is what it would be otherwise, and is handed to the socket at once', async () => {
    const plain = await serving((outgoing) => void outgoing.end(body));
    const quick = await serving((outgoing) => endInOnePiece(outgoing, body));
    expect(dateless(await quick.ask(asking('close')))).toBe(dateless(await plain.ask(asking('close'))));
    expect(quick.pieces).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n\{"items":\[\]\}$/s)]);
    expect(plain.pieces.length).toBeGreaterThan(1);
  });

  it('leaves the connection to those that follow, also to ones that were sent together', async () => {
    const { ask } = await serving((outgoing) => endInOnePiece(outgoing, body));
    const answer = await ask(asking('keep-alive').repeat(3) + asking('close'));
    expect(answer.split(body)).toHaveLength(5);
    expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(4);
  });

  it('goes the usual way where Node has no head that waits', async () => {
    const { ask } = await serving((outgoing) => {
      outgoing.flushHeaders();
      endInOnePiece(outgoing, body);
    });
    expect(await ask(asking('close'))).toMatch(/\r\n\r\n\{"items":\[\]\}$/);
  });
});
