// Requests that wait for something else than this service do not count towards overload
// (docs/protocol.md §1.8).
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { startService } from '../../support/service.ts';

/** More than the number of requests in progress below which nothing is rejected. */
const polls = 300;
/** Longer than a request may wait before its kind counts as overloaded. */
const watchMs = 4_000;

it.each(['waitSeconds=30', '%77aitSeconds=30'])(
  `rejects no other request while ${polls} long polls of one viewer wait (%s)`,
  async (query) => {
    const service = await startService();
    const key = await service.token('viewer');
    expect((await service.send('GET', '/v1/me', { key })).status).toBe(200);
    const sockets: Socket[] = [];
    try {
      const { hostname, port } = new URL(service.url);
      for (let n = 0; n < polls; n++) {
        const socket = connect(Number(port), hostname);
        sockets.push(socket.resume());
        await once(socket, 'connect');
        socket.write(
          `GET /v1/events?${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
        );
      }
      for (let passedMs = 0; passedMs < watchMs; passedMs += 100) {
        expect((await service.manage('GET', '/v1/me')).status).toBe(200);
        service.clock.advance(100);
      }
    } finally {
      for (const socket of sockets) socket.destroy();
      await service.close();
    }
  },
);
