import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { guid } from '../../store/sample-batch.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { impression, item } from '../../support/service/content.ts';
import { type Served, startServed } from '../served.ts';
import { type BoundTv, fillWithFleet } from './fleet.ts';

const token = `mak_${'FleetSize'.repeat(4)}`;
const size = 100_000;
const idleMs = 60_000;
/** Includes a checkpoint, which happens every minute. */
const loadMs = 75_000;

/** Campaigns and creatives of a tenant on one day. */
const [campaigns, creatives] = [200, 5_000];
const upTo = (count: number) => Math.floor(Math.random() * count);
/** A creative belongs to one campaign. */
function randomImpression() {
  const creative = upTo(creatives);
  const campaignId = guid('camp', creative % campaigns);
  return impression({ campaignId, creativeId: guid('crea', creative) });
}

const anyOf = (tvs: readonly BoundTv[]) => tvs[upTo(tvs.length)] as BoundTv;

/** Sends what TVs, installers, editors and a dashboard send, all at the same time. */
async function mixedLoad(
  { url }: Served,
  tvs: readonly BoundTv[],
): Promise<Record<string, number>> {
  const management = new ManagementClient({ url, token });
  const anyone = new RuntimeClient({ url });
  const { id: venueId } = await management.call('createVenue', { body: { name: randomUUID() } });
  const done: Record<string, number> = {};
  const until = performance.now() + loadMs;
  const lanes = (name: string, count: number, call: (tv: BoundTv) => Promise<unknown>) =>
    Array.from({ length: count }, async () => {
      for (; performance.now() < until; done[name] = (done[name] ?? 0) + 1) await call(anyOf(tvs));
    });
  await Promise.all([
    ...lanes('playlists', 6, (tv) => anyone.withKey(tv.apiKey).fetchPlaylist(tv.screenId)),
    ...lanes('configs', 2, (tv) => anyone.withKey(tv.apiKey).fetchConfig(tv.screenId)),
    ...lanes('batches', 6, (tv) =>
      anyone
        .withKey(tv.apiKey)
        .postEvents(tv.screenId, Array.from({ length: 10 }, randomImpression) as never),
    ),
    ...lanes('registrations', 6, async () => {
      const { id: screenId } = await management.call('createScreen', {
        body: { venueId, name: randomUUID() },
      });
      const { code } = await management.call('createCode', { body: { screenId } });
      await anyone.register({ pairingCode: code, deviceInfo: { model: 'Frame' } });
    }),
    ...lanes('published', 2, (tv) =>
      management.call('publishPlaylist', {
        params: { id: tv.screenId },
        body: { items: Array.from({ length: 10 }, () => item()) },
      } as never),
    ),
    ...lanes('lists', 1, () =>
      management.call('listDevices', { query: { online: 'true', limit: 50 } } as never),
    ),
  ]);
  return done;
}

it('start, memory and event-loop holds with 100,000 screens', async () => {
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, size);
  const served = await startServed(data, token);
  const atStart = await served.usage();
  await sleep(idleMs);
  const idle = await served.usage();
  console.log(
    `${size} screens: start ${served.startMs.toFixed(0)} ms; ${atStart.residentMB.toFixed(0)} MB after it, ${idle.residentMB.toFixed(0)} MB after ` +
      `an idle minute (bar: 600), longest hold ${idle.longestHoldMs.toFixed(0)} ms`,
  );
  await served.resetHolds();
  const done = await mixedLoad(served, tvs);
  const { longestHoldMs, longestOwnHoldMs, residentMB } = await served.usage();
  console.log(
    `${size} screens under mixed load: longest hold ${longestHoldMs.toFixed(0)} ms (bar: 50; without time in which the thread waited for a core ${longestOwnHoldMs.toFixed(0)} ms), ${residentMB.toFixed(0)} MB; calls ${JSON.stringify(done)}`,
  );
  await served.stop();
});
