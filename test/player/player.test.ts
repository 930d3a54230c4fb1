import { describe, expect, it } from 'vitest';
import { ManagementClient, RuntimeClient } from '../../src/entry/client.ts';
import { Player } from '../../src/entry/simulator.ts';
import { serve } from '../../src/index.ts';

const day = 24 * 60 * 60 * 1000;

describe('A simulated day in a user’s test', () => {
  it('takes only as long as its requests', async () => {
    const service = await serve({ port: 0, store: 'memory:' });
    const management = new ManagementClient({ url: service.url, token: service.adminToken! });
    const venue = await management.call('createVenue', { body: { name: 'Lobby' } });
    const screen = await management.call('createScreen', {
      body: { venueId: venue.id, name: 'Main' },
    });
    const item = {
      creativeId: crypto.randomUUID(),
      creativeUrl: 'https://media.example.com/spring.mp4',
      creativeType: 'video' as const,
    };
    const items = [{ ...item, duration: 30, campaignId: crypto.randomUUID() }];
    await management.call('publishPlaylist', { params: { id: screen.id }, body: { items } });
    await management.call('putScreenConfig', {
      params: { id: screen.id },
      body: { heartbeatIntervalMinutes: 30, syncIntervalMinutes: 60 },
    });

    const nextCode = async () =>
      (await management.call('createCode', { body: { screenId: screen.id } })).code;
    const tv = new Player({
      client: new RuntimeClient({ url: service.url }),
      deviceInfo: { model: 'TV' },
      nextCode,
      speed: Number.POSITIVE_INFINITY,
    });
    expect(await tv.run(undefined, day)).toEqual({ reason: 'stopped' });

    const report = await management.call('reportImpressions', { query: { groupBy: 'campaign' } });
    expect(report.items).toMatchObject([
      { key: items[0]?.campaignId, impressions: 2880, seconds: day / 1000, fullPlays: 2880 },
    ]);
    expect((await management.call('getDevice', { params: { id: tv.state.deviceId! } })).state).toBe(
      'bound',
    );
    await service.close();
  });
});
