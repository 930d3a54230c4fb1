// Requests with a small body begin when the body is buffered.
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { rawClient, startListener } from '../../support/tv/raw-client.ts';

const mostBytes = 16 * 1024;
const turns = 50;

let url: string;
let begun: string[];

beforeEach(async () => {
  begun = [];
  const fetch = async (request: Request) => new Response(await request.text());
  const admit = ({ method = '' }) => begun.push(method) > 0;
  ({ url } = await startListener({ fetch, admit }));
});

const head = (length: number | string) =>
  `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;

/** Waits for more turns of the event loop than a request needs. */
async function later(): Promise<void> {
  for (let n = 0; n < turns; n++) await turn();
}

/** Waits for the response to a later request: then everything sent before has been read. */
async function answered(): Promise<void> {
  await fetch(url);
  await later();
  begun = begun.filter((method) => method !== 'GET');
}

describe('a request with a body', () => {
  it('begins when the body is complete, in any number of chunks', async () => {
    const { socket, closed } = await rawClient(url);
    socket.write(`${head(mostBytes)}${'a'.repeat(mostBytes - 2)}`);
    await answered();
    socket.write('b');
    await answered();
    expect(begun).toEqual([]);
    socket.write('c');
    expect(await closed).toMatch(/^HTTP\/1.1 200 .*\r\n\r\na{16382}bc$/s);
    expect(begun).toEqual(['POST']);
  });

  it('with more bytes than Node buffers begins at once', async () => {
    const { socket, closed } = await rawClient(url);
    socket.write(head(mostBytes + 1));
    await expect.poll(() => begun).toEqual(['POST']);
    socket.write('a'.repeat(mostBytes + 1));
    expect(await closed).toMatch(/^HTTP\/1.1 200 .*\r\n\r\na{16385}$/s);
  });

  it('that is chunked, or is empty, begins at once', async () => {
    const { socket, closed } = await rawClient(url);
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    await expect.poll(() => begun).toEqual(['POST']);
    socket.write('3\r\nabc\r\n0\r\n\r\n');
    expect(await closed).toMatch(/^HTTP\/1.1 200 .*abc/s);
    const empty = await rawClient(url);
    empty.socket.write(head(0));
    expect(await empty.closed).toMatch(/^HTTP\/1.1 200 /);
  });

  it('that is aborted never begins', async () => {
    const { socket, closed } = await rawClient(url);
    socket.write(`${head(4)}abc`);
    await answered();
    socket.end();
    await closed;
    await answered();
    expect(begun).toEqual([]);
  });

  it('that waits for 100 Continue begins at once', async () => {
    const { socket, closed } = await rawClient(url);
    socket.write(head('4\r\nExpect: 100-continue'));
    await expect.poll(() => begun).toEqual(['POST']);
    socket.write('body');
    expect(await closed).toMatch(/^HTTP\/1.1 200 .*\r\n\r\nbody$/s);
  });
});
