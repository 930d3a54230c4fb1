// Clients that hold requests to exhaust the service.
import type { Socket } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { item } from '../../support/service/content.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';
import { silentSocket } from '../../support/tv/raw-client.ts';

/** Far less than the 10 minutes that an attacker's requests are held, for a busy machine, too. */
const undelayedMs = 10_000;
let service: TestService<Clock>;
let honest: BoundTv;
let attacker: BoundTv;
beforeEach(async () => {
  service = await startService({ clock: systemClock });
  honest = await service.tv();
  attacker = await service.tv();
});
/** Returns the bytes of `count` pipelined holds of the attacker's TV. */
async function pipelined(count: number): Promise<string> {
  const { body } = await attacker.send('GET', 'changes');
  const path = `/devices/${attacker.screenId}/changes?after=${body.cursor}&waitSeconds=600`;
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.apiKey}\r\n\r\n`;
  return head.repeat(count);
}

/** Opens connections that send these bytes and never read. */
async function neverReading(count: number, bytes: string): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => silentSocket(service.url)));
  for (const socket of sockets) socket.write(bytes);
  return sockets;
}

/** Returns the milliseconds from a publication to its hint at the honest TV. */
async function hintMs(): Promise<number> {
  const { body } = await honest.send('GET', 'changes');
  const held = honest.send('GET', `changes?after=${body.cursor}&waitSeconds=600`);
  const startMs = performance.now();
  await service.manage('PUT', `/v1/screens/${honest.screenId}/playlist`, { items: [item()] });
  expect((await held).body.cursor).not.toBe(body.cursor);
  return performance.now() - startMs;
}

it('100 connections with 50 pipelined holds each hold two requests, and delay no hint', async () => {
  await neverReading(100, await pipelined(50));
  for (let n = 0; n < 5; n++) expect(await hintMs()).toBeLessThan(undelayedMs);
  await expect.poll(() => heldDevices(service)).toBe(2);
  await service.manage('POST', `/v1/devices/${attacker.deviceId}/revoke`);
  await expect.poll(() => heldDevices(service)).toBe(0);
});

it('connections that come and go leave no hold behind', async () => {
  const bytes = await pipelined(1);
  for (let round = 0; round < 5; round++) {
    for (const socket of await neverReading(50, bytes)) socket.resetAndDestroy();
  }
  await expect.poll(() => heldDevices(service)).toBe(0);
  expect(await hintMs()).toBeLessThan(undelayedMs);
});
