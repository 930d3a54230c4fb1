import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEachFile } from '../runtime/clean-up.ts';

const closes: (() => Promise<void>)[] = [];
afterEachFile(() => Promise.all(closes.splice(0).map((close) => close())));

/**
 * Starts a server on a free port. `close` also cuts its connections, at the latest after the tests
 * of the file.
 */
export async function startLocally(server: Server | HttpServer) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  closes.push(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
