import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasCode } from '../../src/domain/error.ts';
import { RuntimeClient } from '../../src/entry/client.ts';
import { serve } from '../../src/serve.ts';
import { sampleImpressions } from '../../src/testing/fixtures.ts';
import { startService } from '../../src/testing/start-service.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';

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

  it('is empty after a reset, with its URL, token and clock', async () => {
    const service = await startService({ faults: ['503:config'] });
    const { url, management, clock } = service;
    const tv = await service.createTv();
    clock.advance(60_000);
    service.setFaults(['500:playlist']);
    const { cursor } = await tv.client.fetchChanges(tv.screenId);
    const held = tv.client.fetchChanges(tv.screenId, { after: cursor, waitSeconds: 600 });
    const isCut = expect(held).rejects.toMatchObject({ code: 'unreachable' });
    await service.reset();
    await isCut;
    expect(service.url).toBe(url);
    expect(service.requests).toEqual([]);
    expect(clock.now()).toBe(Date.UTC(2026, 10, 20, 12, 1));
    expect(await management.call('listVenues')).toEqual({ items: [], nextCursor: null });
    await expect(tv.client.fetchPlaylist(tv.screenId)).rejects.toMatchObject({
      code: 'device_key_invalid',
    });
    const next = await service.createTv();
    expect((await next.client.fetchPlaylist(next.screenId)).answer?.items).toHaveLength(3);
    const config = next.client.fetchConfig(next.screenId, { attempts: 1 });
    await expect(config).rejects.toMatchObject({ status: 503 });
    await service.close();
    const kept = await startService({ store: await temporaryFolder() });
    await expect(kept.reset()).rejects.toMatchObject({ code: 'not_supported' });
    await kept.close();
  });

  it('changes its faults while it runs, and lists the requests that it answered', async () => {
    const service = await startService();
    const { client, screenId, deviceId } = await service.createTv();
    service.setFaults(['404:playlist:first 1']);
    const failed = await client.fetchPlaylist(screenId, { attempts: 1 }).catch((error) => error);
    expect(failed).toMatchObject({ status: 404 });
    await client.fetchPlaylist(screenId);
    const atMs = service.clock.now();
    expect(service.requests.slice(-2)).toEqual([
      {
        atMs,
        operation: 'getPlaylist',
        status: 404,
        code: 'playlist_not_found',
        deviceId: undefined,
        screenId: undefined,
        faults: ['404:playlist:first 1'],
      },
      {
        atMs,
        operation: 'getPlaylist',
        status: 200,
        code: undefined,
        deviceId,
        screenId,
        faults: [],
      },
    ]);
    expect(() => service.setFaults(['nonsense'])).toThrow(/nonsense/);
    await service.close();
    const plain = await serve({ port: 0, store: 'memory:' });
    expect(() => plain.setFaults([])).toThrow(/start the service with the option faults/);
    await plain.close();
  });

  it('closes by force while a request is in progress', async () => {
    const service = await startService();
    const { client, screenId } = await service.createTv();
    const { cursor } = await client.fetchChanges(screenId);
    const held = client.fetchChanges(screenId, { after: cursor, waitSeconds: 600 });
    const isHeld = held.catch((error) => error.code);
    // The answer of a held request would come within 8 s of the clock, which stands still.
    await service.close({ force: true });
    expect(await isHeld).toBe('unreachable');
  });

  describe('under fake timers', () => {
    afterEach(() => void vi.useRealTimers());

    it('rejects with the reason, as do its clients', async () => {
      const service = await startService();
      vi.useFakeTimers();
      const refused = { code: 'not_supported', message: expect.stringContaining("['Date']") };
      await expect(startService()).rejects.toMatchObject(refused);
      await expect(service.reset()).rejects.toMatchObject(refused);
      await expect(service.createTv()).rejects.toMatchObject(refused);
      vi.useRealTimers();
      vi.useFakeTimers({ toFake: ['Date'] });
      await service.createTv();
      await service.close();
    });
  });
});
