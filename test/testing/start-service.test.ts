import { describe, expect, it } from 'vitest';
import { hasCode } from '../../src/domain/error.ts';
import { RuntimeClient } from '../../src/entry/client.ts';
import { sampleImpressions } from '../../src/testing/fixtures.ts';
import { startService } from '../../src/testing/start-service.ts';

describe('startService', () => {
  it('runs several services side by side, each with its own clock', async () => {
    const services = [await startService(), await startService({ codeTtlMinutes: 1 })];
    const [one, other] = services as [(typeof services)[0], (typeof services)[0]];
    const code = await other.createCode();
    other.clock.advance(61_000);
    const status = await other.management.call('getCodeStatus', { params: { code } });
    expect(status.status).toBe('expired');
    expect(other.clock.now() - one.clock.now()).toBe(61_000);
    const stranger = one.management.call('getCodeStatus', { params: { code } });
    expect(hasCode(await stranger.catch((error) => error), 'pairing_code_not_found')).toBe(true);
    await Promise.all(services.map((service) => service.close()));
  });

  it('makes a TV that plays and reports', async () => {
    const service = await startService();
    const tv = await service.createTv();
    const { answer: playlist } = await tv.client.fetchPlaylist(tv.screenId);
    const events = sampleImpressions(playlist!, service.clock.now());
    expect(await tv.client.postEvents(tv.deviceId, events)).toBe(2);
    const report = await service.management.call('reportImpressions', {
      query: { groupBy: 'creative' },
    });
    expect(report.items.map(({ seconds }) => seconds)).toEqual([15, 10]);
    const { id } = await service.createScreen(null);
    const none = service.management.call('readPlaylist', { params: { id } });
    await expect(none).rejects.toMatchObject({ code: 'playlist_not_found' });
    await service.close();
  });

  it('answers requests of timers that fire during advanceAsync', async () => {
    const service = await startService();
    const { screenId, apiKey } = await service.createTv();
    const { clock } = service;
    const once = { timeoutMs: 10_000, retry: { attempts: 1 } };
    const client = new RuntimeClient({ url: service.url, apiKey, clock, ...once });
    const outcomes: string[] = [];
    const ask = () =>
      void client.fetchPlaylist(screenId).then(
        () => outcomes.push('answered'),
        (error) => outcomes.push(error.code),
      );
    clock.after(30_000, ask);
    await clock.advanceAsync(60_000, 500);
    expect(outcomes).toEqual(['answered']);
    clock.after(30_000, ask);
    clock.advance(60_000);
    await expect.poll(() => outcomes).toEqual(['answered', 'unreachable']);
    await service.close();
  });
});
