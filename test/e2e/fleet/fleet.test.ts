import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import { type Clock, hourMs, minuteMs, systemClock } from '../../../src/domain/clock.ts';
import type { FleetProgress } from '../../../src/simulator/fleet/report.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  startService,
  type TestService,
  adminToken as token,
} from '../../support/service/service.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';

let service: TestService<Clock>;
let management: ManagementClient;

beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
  management = new ManagementClient({ url: service.url, token });
});

const fleet = (options: Partial<Parameters<typeof quickFleet>[0]> = {}) =>
  quickFleet({ url: service.url, token, ...options });
/** Short waits end at once, so progress is reported all the time. */
const fastProgressClock: Clock = {
  now: () => systemClock.now(),
  after: (ms, wake) => systemClock.after(ms < 1000 ? 0 : ms, wake),
};
const venueNamed = async (name: string) =>
  (await management.call('listVenues', { query: { name } })).items[0];
const screensOf = async (venueId: string) =>
  (await management.call('listScreens', { query: { venueId, limit: 200 } })).items;
const boundDevices = async () =>
  (await management.call('listDevices', { query: { state: 'bound', limit: 200 } })).items;

describe('runFleet', () => {
  it('simulates TVs, finds all acknowledged events stored, and deletes everything else', async () => {
    const report = await fleet({ venue: 'Rehearsal' });
    expect(report).toMatchObject({
      seed: 'test',
      isInterrupted: false,
      tvs: { count: 3, bound: 3, unpaired: 0 },
      repeatedBatches: 0,
      events: { queued: 0, dropped: {} },
      failures: [],
      notes: [],
    });
    const { made, acknowledged } = report.events;
    // 72 items of five minutes, about 24 heartbeats, the start and the end; the last item is cut
    // short.
    expect(made).toBeGreaterThan(3 * 95);
    expect(made).toBeLessThan(3 * 105);
    expect(acknowledged).toBe(made);
    expect(report.left).toEqual({ events: made, screens: 0, isMarked: true });
    const day = { groupBy: 'day' as const, by: 'received' as const };
    const counted = async (simulated: 'only' | 'exclude') =>
      (await management.call('reportImpressions', { query: { ...day, simulated } })).items.length;
    expect([await counted('only'), await counted('exclude')]).toEqual([1, 0]);
    const events = { acknowledged: made, stored: made, lost: 0, duplicated: 0, strange: 0 };
    expect(report.reconciliation).toEqual({
      outcome: 'compared',
      devices: 3,
      events,
      findings: [],
    });
    expect(report.endpoints.map(({ operation }) => operation).sort()).toEqual([
      'getDeviceConfig',
      'getPlaylist',
      'postEvents',
      'registerDevice',
    ]);
    expect(report.requests).toBe(report.endpoints.reduce((sum, { requests }) => sum + requests, 0));
    expect(await venueNamed('Rehearsal')).toBeUndefined();
    expect(await boundDevices()).toEqual([]);
    expect((await management.call('listEvents', { query: { limit: 1 } })).items).toHaveLength(1);
  });

  it('applies the device models and the config of the options', async () => {
    const seen: string[] = [];
    const deviceInfos = [{ model: 'Wall A' }, { model: 'Wall B' }];
    const makeRequester = async (certificates: readonly string[] | undefined) => {
      const send = makeUndiciRequester(certificates);
      return async (...[url, parts]: Parameters<typeof send>) => {
        if (url.endsWith('/register')) seen.push(JSON.parse(String(parts.body)).deviceInfo.model);
        return send(url, parts);
      };
    };
    const report = await fleet({ deviceInfos, makeRequester, lifeMs: hourMs });
    expect(seen.sort()).toEqual(['Wall A', 'Wall A', 'Wall B']);
    expect(
      report.endpoints.find(({ operation }) => operation === 'getPlaylist')!.requests,
    ).toBeLessThanOrEqual(2 * 3);
  });

  it('reports progress every 250 ms', async () => {
    const seen: FleetProgress[] = [];
    await fleet({ onProgress: (progress) => seen.push(progress), clock: fastProgressClock });
    expect(seen.length).toBeGreaterThan(3);
    expect(new Set(seen.map(({ step }) => step)).size).toBeGreaterThan(1);
    const running = seen.filter(({ step }) => step === 'running').at(-1)!;
    expect(Object.values(running.phases).reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(running.requests).toBeGreaterThan(0);
  });

  it('creates screens with free names in an existing venue, and deletes only those', async () => {
    const venue = await management.call('createVenue', { body: { name: 'Real' } });
    const real = await management.call('createScreen', {
      body: { venueId: venue.id, name: 'simulated 1', labels: { simulated: 'true' } },
    });
    const report = await fleet({ venue: 'real', lifeMs: hourMs });
    expect(report.reconciliation.findings).toEqual([]);
    expect(await screensOf(venue.id)).toEqual([real]);
    expect(await venueNamed('Real')).toEqual(venue);
  });

  it('keeps a venue it created if it holds another screen by then', async () => {
    const onProgress = async ({ step }: FleetProgress) => {
      const made = step === 'running' && (await venueNamed('Shared'));
      if (made)
        await management
          .call('createScreen', { body: { venueId: made.id, name: 'Mine' } })
          .catch(() => {});
    };
    await fleet({ venue: 'Shared', onProgress, clock: fastProgressClock });
    expect((await screensOf((await venueNamed('Shared'))!.id)).map(({ name }) => name)).toEqual([
      'Mine',
    ]);
  });

  it('rejects and leaves nothing if creating screens is forbidden', async () => {
    const viewer = await service.token('viewer');
    await expect(fleet({ token: viewer, venue: 'Forbidden' })).rejects.toMatchObject({
      code: 'insufficient_role',
    });
    await expect(fleet({ token: `mak_${'x'.repeat(49)}` })).rejects.toMatchObject({
      code: 'credential_invalid',
    });
    await expect(fleet({ token: undefined })).rejects.toMatchObject({ code: 'credential_missing' });
    await expect(fleet({ url: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(await venueNamed('Forbidden')).toBeUndefined();
  });

  it.each([
    [{ faults: ['lost:5%'] }, '"lost" (character 1) is not understood'],
    [{ codes: ['ABCD2345'], faults: ['shared-code:5%'] }, 'cannot be combined with given codes'],
    [
      { codes: ['ABCD2345'], token: undefined, faults: ['revoked-key:1/d'] },
      'requires a management token',
    ],
  ])('rejects %j', async (options, message) => {
    await expect(fleet(options)).rejects.toThrow(message);
    await expect(fleet(options)).rejects.toMatchObject({ code: 'invalid_option' });
  });

  it('ends at once when aborted, with the report so far, and deletes what it created', async () => {
    const stop = new AbortController();
    const onProgress = ({ events }: FleetProgress) => {
      if (events.acknowledged > 0) stop.abort();
    };
    const report = await fleet({
      venue: 'Cut short',
      lifeMs: undefined,
      speed: 3600,
      signal: stop.signal,
      onProgress,
    });
    expect(report.isInterrupted).toBe(true);
    expect(report.events.acknowledged).toBeGreaterThan(0);
    expect(report.reconciliation.findings).toEqual([]);
    expect(await venueNamed('Cut short')).toBeUndefined();
  });

  it('stops TVs in an orderly way after durationMs', async () => {
    const report = await fleet({ lifeMs: undefined, durationMs: 500, speed: 7200 });
    expect(report).toMatchObject({
      isInterrupted: false,
      events: { queued: 0 },
      reconciliation: { outcome: 'compared', findings: [] },
    });
    const stopped = await management.call('listEvents', {
      query: { type: 'app_stopped', limit: 3 },
    });
    const times = stopped.items.map(({ event }) => Number(event.timestamp) * 1000 - report.seconds);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(10 * minuteMs);
  });
});

describe('runFleet, if the service changes during the run', () => {
  it('reports a failed comparison and what is left if the service becomes unreachable', async () => {
    const gone = await startService<Clock>({ clock: systemClock });
    const onProgress = ({ events }: FleetProgress) =>
      void (events.acknowledged > 0 && gone.close());
    const run = {
      url: gone.url,
      lifeMs: undefined,
      durationMs: 600,
      speed: 3600,
      clock: fastProgressClock,
      onProgress,
    };
    const report = await fleet(run);
    expect(report.reconciliation).toMatchObject({
      outcome: 'failed',
      why: expect.stringContaining('Cannot reach'),
      findings: [],
    });
    expect(report.notes).toEqual([
      expect.stringMatching(
        /^3 simulated screens are left \(Cannot reach .*\): delete them with signage screen delete/,
      ),
    ]);
    expect(report.events.acknowledged).toBeGreaterThan(0);
  });

  it('continues with the other TVs if the screen of one is deleted', async () => {
    let deleted: Promise<unknown> | undefined;
    const onProgress = ({ phases }: FleetProgress) => {
      if (deleted || phases.playing !== 3) return;
      deleted = boundDevices().then(([first]) =>
        management.call('deleteScreen', {
          params: { id: first!.screenId },
          query: { force: 'true' },
        }),
      );
    };
    const report = await fleet({
      venue: 'Robbed',
      lifeMs: undefined,
      durationMs: 1000,
      speed: 7200,
      clock: fastProgressClock,
      onProgress,
    });
    await deleted;
    expect(report).toMatchObject({
      tvs: { bound: 3, unpaired: 1 },
      notes: [],
      reconciliation: { outcome: 'compared', findings: [] },
    });
    expect(report.failures.map(({ code }) => code)).toEqual(['device_key_orphaned']);
    expect(await venueNamed('Robbed')).toBeUndefined();
  });

  it('deletes what it created if it is aborted before the first TV', async () => {
    const stop = new AbortController();
    const onProgress = ({ step }: FleetProgress) => void (step === 'preparing' && stop.abort());
    const report = await fleet({
      venue: 'Half made',
      count: 300,
      signal: stop.signal,
      clock: fastProgressClock,
      onProgress,
    });
    expect(report).toMatchObject({ isInterrupted: true, tvs: { bound: 0 }, requests: 0 });
    expect(await venueNamed('Half made')).toBeUndefined();
  });
});

describe('runFleet with given codes', () => {
  const codes = async (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await service.code()).code));

  it('pairs without a token, and reports that nothing was compared and what is left', async () => {
    const report = await fleet({
      codes: await codes(2),
      token: undefined,
      count: undefined,
      lifeMs: hourMs,
    });
    expect(report.tvs).toEqual({ count: 2, bound: 2, unpaired: 0 });
    expect(report.reconciliation).toMatchObject({
      outcome: 'skipped',
      why: expect.stringContaining('management token'),
      findings: [],
    });
    expect(report.left).toMatchObject({ events: report.events.acknowledged, isMarked: false });
    expect(report.notes).toEqual([expect.stringContaining('2 simulated TVs stay on the screens')]);
    expect(await boundDevices()).toHaveLength(2);
  });

  it('compares with a token, and revokes the devices at the end', async () => {
    const before = await boundDevices();
    const report = await fleet({ codes: await codes(2), count: undefined, lifeMs: hourMs });
    expect(report).toMatchObject({
      notes: [],
      reconciliation: { outcome: 'compared', devices: 2, findings: [] },
    });
    expect(await boundDevices()).toEqual(before);
  });

  it('counts TVs without a code or with a rejected one', async () => {
    const used = (await service.tv()).code;
    const report = await fleet({ codes: [...(await codes(1)), used], count: 3, lifeMs: hourMs });
    expect(report.tvs).toEqual({ count: 3, bound: 1, unpaired: 2 });
    expect(report.failures.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['no_pairing_code', 'pairing_code_used']),
    );
  });
});

describe('runFleet with a folder for a saved fleet', () => {
  it('continues with the same TVs on the same screens', async () => {
    const keep = join(await temporaryFolder(), 'tvs');
    const first = await fleet({ keep, venue: 'Kept' });
    expect(first.reconciliation.findings).toEqual([]);
    const screens = await screensOf((await venueNamed('Kept'))!.id);
    const second = await fleet({
      keep,
      venue: 'Kept',
      count: 4,
      seed: undefined,
      faults: ['lost-answer:events:20%'],
    });
    expect(second).toMatchObject({
      seed: 'test',
      tvs: { bound: 4 },
      reconciliation: { outcome: 'compared', devices: 4, findings: [] },
    });
    expect(second.endpoints.find(({ operation }) => operation === 'registerDevice')!.requests).toBe(
      1,
    );
    const after = await screensOf((await venueNamed('Kept'))!.id);
    expect(after.slice(0, 3).map(({ id, deviceId }) => [id, deviceId])).toEqual(
      screens.map(({ id, deviceId }) => [id, deviceId]),
    );
    expect(after).toHaveLength(4);
  });

  it('accounts for events sent with the previous key if the service does not know the new one', async () => {
    const keep = join(await temporaryFolder(), 'tvs');
    const options = { keep, venue: 'Put back', count: 1, lifeMs: hourMs };
    await fleet(options);
    const file = join(keep, 'tv-00001.json');
    const kept = JSON.parse(await readFile(file, 'utf8'));
    const unknown = `dak_${'0'.repeat(49)}`;
    await writeFile(
      file,
      JSON.stringify({
        ...kept,
        binding: { ...kept.binding, apiKey: unknown },
        formerKey: { apiKey: kept.binding.apiKey },
      }),
    );
    const report = await fleet({ ...options, seed: undefined, rotateEveryMs: 2 * hourMs });
    expect(report).toMatchObject({ fallBacks: 1, rotations: 0, tvs: { bound: 1, unpaired: 0 } });
    expect(report.events.acknowledged).toBeGreaterThan(0);
    expect(report.reconciliation).toMatchObject({
      outcome: 'compared',
      findings: [],
      keys: { tvs: 1, issued: 2, working: 1, underWay: 0 },
    });
  });

  it('protects the files, and rejects a folder of another service', async () => {
    const keep = join(await temporaryFolder(), 'tvs');
    await fleet({ keep, venue: 'Private', count: 1, lifeMs: hourMs });
    expect((await readdir(keep)).sort()).toEqual(['fleet.json', 'tv-00001.json']);
    for (const file of await readdir(keep))
      expect((await stat(join(keep, file))).mode & 0o077).toBe(0);
    expect(await readFile(join(keep, 'tv-00001.json'), 'utf8')).toContain('dak_');
    await expect(fleet({ keep, url: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'invalid_file',
    });
  });

  it('continues without a token', async () => {
    const keep = join(await temporaryFolder(), 'tvs');
    await fleet({ keep, venue: 'Alone', count: 2, lifeMs: hourMs });
    const report = await fleet({ keep, token: undefined, count: 2, lifeMs: hourMs });
    expect(report).toMatchObject({
      tvs: { bound: 2, unpaired: 0 },
      failures: [],
      reconciliation: { outcome: 'skipped' },
    });
    expect(report.events.acknowledged).toBe(report.events.made);
    await expect(fleet({ keep, token: undefined, count: 3 })).rejects.toMatchObject({
      code: 'credential_missing',
    });
  });
});
