import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { startProgram } from '../support/process/program.ts';
import { type BoundTv, fillWithFleet } from './fleet/fleet.ts';
import { share } from './measure.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'SwitchedAtOnce'.repeat(3)}`;

const items = (name: string) => [
  {
    creativeId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e',
    creativeUrl: `https://media.example.com/${name}.mp4`,
    creativeType: 'video' as const,
    duration: 15,
  },
];

async function untilHeld({ url }: Served, count: number): Promise<void> {
  for (let n = 0; n < 300; n++) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (text.includes(`\nsignage_held_devices ${count}\n`)) return;
    await sleep(200);
  }
  throw new Error(`The service does not hold ${count} TVs.`);
}

/** Fetches the playlists of other TVs for some time, 50 a second. Returns the latencies. */
async function latencies(
  { url }: Served,
  tvs: readonly BoundTv[],
  forMs: number,
): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n * 20 < forMs; n++) {
    const { deviceId, apiKey } = tvs[n % tvs.length] as BoundTv;
    const start = performance.now();
    const headers = { authorization: `Bearer ${apiKey}` };
    await (await fetch(`${url}/devices/${deviceId}/playlist`, { headers })).arrayBuffer();
    found.push(performance.now() - start);
    await sleep(20);
  }
  return found;
}

it('10,000 screens that switch at one instant', async () => {
  const data = await temporaryFolder();
  const all = await fillWithFleet(data, 10_100);
  const tvs = all.slice(0, 10_000);
  const others = all.slice(10_000);
  const served = await startServed(data, token);
  const load = await startProgram(new URL('holds/changes-load.js', import.meta.url));
  await load.ask({ url: served.url, tvs });
  await untilHeld(served, tvs.length);
  const management = new ManagementClient({ url: served.url, token });
  const atMs = (Math.floor(Date.now() / 1000) + 40) * 1000;
  const body = {
    entries: [{ name: 'Entry', at: atMs / 1000, until: atMs / 1000 + 3600, items: items('entry') }],
  };
  for (const id of new Set(tvs.map(({ venueId }) => venueId)))
    await management.call('putVenueSchedule', { params: { id }, body });
  await sleep(10_000);
  await untilHeld(served, tvs.length);
  const before = await latencies(served, others, 8000);
  // Schedules move what is upcoming of some TVs at any time.
  await sleep(atMs - Date.now() - 100);
  await load.ask({});
  const during = await latencies(served, others, 10_000);
  await sleep(5000);
  const { toldAtMs } = await load.ask<{ toldAtMs: number[] }>({});
  const late = toldAtMs.map((told) => told - atMs);
  const { longestOwnHoldMs, residentMB } = await served.usage();
  console.log(
    `10,000 screens at one instant: half told after ${share(late, 0.5)} ms, all after ${share(late, 1)} ms (bar: 10,000); ` +
      `p99 for others ${share(before, 0.99).toFixed(1)} ms before and ${share(during, 0.99).toFixed(1)} ms during the switch (bar: 2 ×), ` +
      `medians ${share(before, 0.5).toFixed(1)} and ${share(during, 0.5).toFixed(1)} ms; longest hold ${longestOwnHoldMs.toFixed(0)} ms, ${residentMB.toFixed(0)} MB`,
  );
  expect(toldAtMs).toHaveLength(tvs.length);
  await load.stop();
  await served.stop();
});

it('a takeover of 1,000 screens by selector, which ends by itself', async () => {
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, 1000);
  const served = await startServed(data, token);
  const players = await startProgram(new URL('players.js', import.meta.url));
  await players.ask({ url: served.url, tvs });
  await untilHeld(served, tvs.length);
  const management = new ManagementClient({ url: served.url, token });
  await players.ask({});
  const startMs = Date.now();
  const until = Math.floor(startMs / 1000) + 10;
  await management.call('publishMany', {
    body: { selector: '!none', action: 'takeover', items: items('notice'), until },
  });
  const answeredMs = Date.now() - startMs;
  await sleep(8000);
  const taken = await players.ask<{ fetchedAtMs: number[] }>({});
  await sleep(until * 1000 - Date.now() + 5000);
  const back = await players.ask<{ fetchedAtMs: number[] }>({});
  console.log(
    `Takeover of 1,000 screens: answered after ${answeredMs} ms, all had it after ${Math.max(...taken.fetchedAtMs) - startMs} ms (bar: 5,000); ` +
      `all had the base again ${Math.max(...back.fetchedAtMs) - until * 1000} ms after its end`,
  );
  expect(taken.fetchedAtMs).toHaveLength(tvs.length);
  expect(back.fetchedAtMs).toHaveLength(tvs.length);
  await players.stop();
  await served.stop();
});
