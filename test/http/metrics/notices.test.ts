import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { type Receiver, startReceiver } from '../../support/network/webhook-receiver.ts';
import { item, type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  service = await startService({ webhookAllow: ['127.0.0.1'] });
  admin = manager(service);
});
afterEach(() => service.close());

/** The value of one sample, such as `signage_webhooks{state="active"}`. */
async function sample(name: string): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${name} `)) ?? '';
  return Number(line.slice(name.length) || Number.NaN);
}
const becomes = (name: string, value: number) => expect.poll(() => sample(name)).toBe(value);
const publish = (screenId: string, duration: number) =>
  admin.put(`/v1/screens/${screenId}/playlist`, { items: [item({ duration })] });

describe('GET /metrics', () => {
  it('counts notices and attempts, and tells how long a notice waits', async () => {
    const { id } = (await admin.post('/v1/webhooks', { url: receiver.url })).body;
    const screen = await admin.screen((await admin.venue('Lobby')).id, 'Main');
    await publish(screen.id, 1);
    await becomes('signage_notices_total{type="playlist.published"}', 1);
    await becomes('signage_webhook_attempts_total{outcome="delivered"}', 1);
    await becomes('signage_webhooks{state="active"}', 1);
    await becomes('signage_webhook_oldest_seconds', 0);

    receiver.answer = (response) => response.writeHead(503).end();
    await publish(screen.id, 2);
    await becomes('signage_webhook_attempts_total{outcome="retry"}', 1);
    service.clock.advance(2 * secondMs);
    await becomes('signage_webhook_oldest_seconds', 2);
    receiver.answer = (response) => response.writeHead(204).end();
    service.clock.advance(4 * secondMs);
    await becomes('signage_webhook_attempts_total{outcome="delivered"}', 2);
    await becomes('signage_webhook_oldest_seconds', 0);

    await admin.patch(`/v1/webhooks/${id}`, { state: 'paused' });
    await becomes('signage_webhooks{state="paused"}', 1);
    await becomes('signage_webhooks{state="active"}', 0);
  });

  it('counts the screens that are told to be dark', async () => {
    const tv = await service.tv();
    await tv.send('GET', 'playlist', { key: tv.apiKey });
    await becomes('signage_open_alarms{kind="screen"}', 0);
    await expect
      .poll(async () => {
        service.clock.advance(minuteMs / 4);
        return sample('signage_open_alarms{kind="screen"}');
      })
      .toBe(1);
    await becomes('signage_notices_total{type="screen.dark"}', 1);
    await becomes('signage_open_alarms{kind="venue"}', 0);
  });
});
