import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { type ListenerOptions, openListener } from '../../../src/http/listener/listener.ts';
import { afterEachTest } from '../runtime/clean-up.ts';

const sockets = new Set<Socket>();
const listeners = new Set<{ close(): Promise<void> }>();
afterEachTest(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await Promise.all([...listeners].map((listener) => listener.close()));
  listeners.clear();
});

/** Starts a listener without a service. It is closed after the test. */
export async function startListener(
  options: Pick<ListenerOptions, 'fetch'> & Partial<ListenerOptions>,
) {
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    onError: () => {},
    ...options,
  });
  listeners.add(listener);
  return listener;
}

/** Connects, and does not read anything before `socket.resume()`. */
export async function silentSocket(url: string, { allowHalfOpen = false } = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen }).pause();
  sockets.add(socket.on('error', () => {}));
  await once(socket, 'connect');
  return socket;
}

/** Connects, and reads everything. The connection is closed after the test. */
export async function rawClient(url: string, options: { allowHalfOpen?: boolean } = {}) {
  const socket = await silentSocket(url, options);
  let received = '';
  socket.setEncoding('latin1').on('data', (data) => {
    received += data;
  });
  socket.resume();
  const text = () => received;
  return {
    socket,
    /** Everything received so far. */
    text,
    /** Resolves with everything received once that matches. */
    async until(pattern: RegExp) {
      await expect.poll(text).toMatch(pattern);
      return received;
    },
    // Resolves with everything received. Not `once`, which rejects when the connection is reset.
    closed: new Promise<string>((resolve) => socket.on('close', () => resolve(received))),
  };
}

/** A connection whose bytes are sent unchanged. */
export type RawClient = Awaited<ReturnType<typeof rawClient>>;
