// Clients that hold requests to exhaust the service.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import { type BoundTv, startService, type TestService } from '../../support/service.ts';

const sockets: Socket[] = [];
let service: TestService<Clock>;
let honest: BoundTv;
let attacker: BoundTv;
beforeEach(async () => {
  service = await startService({ clock: systemClock });
  honest = await service.tv();
  attacker = await service.tv();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function heldCount(): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  return Number(/^signage_held_devices (\d+)$/m.exec(text)?.[1]);
}

/** Returns the bytes of `count` pipelined holds of the attacker's TV. */
async function pipelined(count: number): Promise<string> {
  const { body } = await attacker.send('GET', 'changes');
  const path = `/devices/${attacker.screenId}/changes?after=${body.cursor}&waitSeconds=50`;
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.apiKey}\r\n\r\n`;
  return head.repeat(count);
}

/** Opens connections that send these bytes and never read. */
async function neverReading(count: number, bytes: string): Promise<void> {
  for (let n = 0; n < count; n++) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    socket.pause().write(bytes);
  }
}

/** Returns the milliseconds from a publication to its hint at the honest TV. */
async function hintMs(): Promise<number> {
  const { body } = await honest.send('GET', 'changes');
  const held = honest.send('GET', `changes?after=${body.cursor}&waitSeconds=50`);
  const startMs = performance.now();
  await service.manage('PUT', `/v1/screens/${honest.screenId}/playlist`, { items: [item()] });
  expect((await held).body.cursor).not.toBe(body.cursor);
  return performance.now() - startMs;
}

it('100 connections with 50 pipelined holds each hold two requests, and delay no hint', async () => {
  await neverReading(100, await pipelined(50));
  for (let n = 0; n < 5; n++) expect(await hintMs()).toBeLessThan(2000);
  await expect.poll(heldCount).toBe(2);
  await service.manage('POST', `/v1/devices/${attacker.deviceId}/revoke`);
  await expect.poll(heldCount).toBe(0);
});

it('connections that come and go leave no hold behind', async () => {
  const bytes = await pipelined(1);
  for (let round = 0; round < 5; round++) {
    await neverReading(50, bytes);
    for (const socket of sockets.splice(0)) socket.resetAndDestroy();
  }
  await expect.poll(heldCount).toBe(0);
  expect(await hintMs()).toBeLessThan(2000);
});
