import { expect } from 'vitest';
import { startReceiver } from '../../support/network/webhook-receiver.ts';
import { item, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';

/**
 * Lets many webhooks of one tenant wait for a receiver that never answers, and tells the webhook of
 * another tenant. Returns how long that took, in milliseconds.
 */
export async function besideHangingWebhooks(count: number): Promise<number> {
  const service = await startService({ webhookAllow: ['127.0.0.1'] });
  const admin = manager(service);
  const receiver = await startReceiver();
  const hanging = await startReceiver();
  hanging.answer = () => {};
  const home = admin.in((await admin.get('/v1/tenants')).body.items[0].id);
  const other = admin.in((await admin.tenant('Other')).id);
  for (let made = 0; made < count; made += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, count - made) }, () =>
        home.post('/v1/webhooks', { url: hanging.url }),
      ),
    );
  expect((await other.post('/v1/webhooks', { url: receiver.url })).status).toBe(201);
  const place = await home.screen((await home.venue('Busy')).id, 'TV');
  const screen = await other.screen((await other.venue('Quiet')).id, 'TV');
  await home.put(`/v1/screens/${place.id}/playlist`, { items: [item()] });
  await expect.poll(() => hanging.received.length, { timeout: 10_000 }).toBe(8);

  const startMs = performance.now();
  await other.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] });
  await expect.poll(() => receiver.received.length, { timeout: 30_000, interval: 5 }).toBe(1);
  const tookMs = performance.now() - startMs;
  expect(hanging.received).toHaveLength(8);
  await service.close();
  return tookMs;
}
