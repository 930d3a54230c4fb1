// Requests that wait for something else than this service do not count towards overload
// (docs/protocol.md §1.8).
import { expect, it } from 'vitest';
import { startService } from '../../support/service/service.ts';
import { silentSocket } from '../../support/tv/raw-client.ts';

/** More than the number of requests in progress below which nothing is rejected. */
const polls = 300;
/** Longer than a request may wait before its kind counts as overloaded. */
const watchMs = 4_000;

it(`rejects no other request while ${polls} long polls of one viewer wait`, async () => {
  const service = await startService();
  const key = await service.token('viewer');
  expect((await service.send('GET', '/v1/me', { key })).status).toBe(200);
  const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}`;
  await Promise.all(
    Array.from({ length: polls }, async () => {
      const socket = await silentSocket(service.url);
      socket.write(`GET /v1/events?%77aitSeconds=30 ${head}\r\n\r\n`);
    }),
  );
  for (let passedMs = 0; passedMs < watchMs; passedMs += 100) {
    expect((await service.manage('GET', '/v1/me')).status).toBe(200);
    service.clock.advance(100);
  }
});
