import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { serve } from '../../src/serve.ts';
import { startReceiver } from '../support/network/webhook-receiver.ts';
import { summary, timeCalls, timed } from './measure.ts';

const token = `mak_${'ManyWebhooks'.repeat(3)}`;
const others = 10_000;
const rounds = 100;
const burst = 1000;

const items = (duration: number) => [
  {
    creativeId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e',
    creativeUrl: 'https://media.example.com/1.mp4',
    creativeType: 'video' as const,
    duration,
  },
];

it(`a webhook beside ${others} others, and ${burst} notices for one receiver`, async () => {
  const service = await serve({
    port: 0,
    store: 'memory:',
    adminToken: token,
    webhookAllow: ['127.0.0.1'],
  });
  const client = new ManagementClient({ url: service.url, token });
  const receiver = await startReceiver();
  const quiet = { url: 'https://receiver.invalid/', types: ['screen.failing'] };
  const createdMs = await timeCalls(others, 8, () => client.call('createWebhook', { body: quiet }));
  await client.call('createWebhook', { body: { url: receiver.url } });
  const venue = await client.call('createVenue', { body: { name: 'Benchmark' } });
  const screen = await client.call('createScreen', { body: { venueId: venue.id, name: 'TV' } });
  const publish = (id: string, duration: number) =>
    client.call('publishPlaylist', { params: { id }, body: { items: items(duration) } });
  const receivedAfter = (count: number) =>
    expect.poll(() => receiver.received.length, { interval: 1, timeout: 120_000 }).toBe(count);

  const delays: number[] = [];
  const cpu = process.cpuUsage();
  for (let round = 1; round <= rounds; round++) {
    const { ms } = await timed(async () => {
      await publish(screen.id, round);
      await receivedAfter(round);
    });
    delays.push(ms);
  }
  const { user, system } = process.cpuUsage(cpu);

  const screens = [screen.id];
  await timeCalls(burst - 1, 8, async (n) => {
    const body = { venueId: venue.id, name: `TV ${n}` };
    screens.push((await client.call('createScreen', { body })).id);
  });
  const screenIds = screens;
  const { ms } = await timed(async () => {
    await client.call('publishMany', {
      body: { screenIds, action: 'publish', items: items(999) },
    });
    await receivedAfter(rounds + burst);
  });
  console.log(
    `${others} webhooks created in ${(createdMs / 1000).toFixed(1)} s; from a publication to its receiver ${summary(delays, 1)} ms, ${((user + system) / 1000 / rounds).toFixed(1)} ms of CPU; ${burst} notices to one receiver in ${(ms / 1000).toFixed(1)} s`,
  );
  await service.close();
});
