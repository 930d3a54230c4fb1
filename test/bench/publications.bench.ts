import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { startProgram } from '../support/process/program.ts';
import { startProcess } from '../support/process/signage-process.ts';
import { type BoundTv, fillWithFleet } from './fleet/fleet.ts';
import { summary, timed } from './measure.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'ManyScreens'.repeat(3)}`;
const rounds = 7;

const items = (n: number) => [
  {
    creativeId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e',
    creativeUrl: `https://media.example.com/${n}.mp4`,
    creativeType: 'video' as const,
    duration: 15,
  },
];

/** Starts players, and waits until each one holds a request. */
async function startPlayers({ url }: Served, tvs: readonly BoundTv[]) {
  const players = await startProgram(new URL('players.js', import.meta.url));
  await players.ask({ url, tvs });
  for (let n = 0; n < 300; n++) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (text.includes(`\nsignage_held_devices ${tvs.length}\n`)) break;
    await sleep(200);
  }
  return players;
}

/** Measures changes of a fleet: how long each took, and until the last player had it. */
async function measure(
  title: string,
  tvs: readonly BoundTv[],
  players: Awaited<ReturnType<typeof startPlayers>>,
  change: (round: number) => Promise<unknown>,
): Promise<void> {
  const took: number[] = [];
  const fetched: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await players.ask({});
    const startMs = Date.now();
    took.push((await timed(() => change(round))).ms);
    await sleep(4000);
    const { fetchedAtMs } = await players.ask<{ fetchedAtMs: number[] }>({});
    expect(fetchedAtMs).toHaveLength(tvs.length);
    fetched.push(Math.max(...fetchedAtMs) - startMs);
  }
  console.log(
    `${title}: answered after ${summary(took)} ms, the last player had it after ${summary(fetched)} ms`,
  );
}

it.each([200, 1000])('publication and rollback on %i screens', async (count) => {
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, count);
  const served = await startServed(data, token);
  const players = await startPlayers(served, tvs);
  const management = new ManagementClient({ url: served.url, token });
  const selector = '!none';
  await served.resetHolds();
  await measure(`${count} screens, publish by API`, tvs, players, (round) =>
    management.call('publishMany', { body: { selector, action: 'publish', items: items(round) } }),
  );
  await measure(`${count} screens, rollback by API`, tvs, players, (round) =>
    management.call('publishMany', { body: { selector, action: 'rollback', to: 2 + round } }),
  );
  const { longestOwnHoldMs } = await served.usage();
  console.log(`${count} screens: longest hold of the event loop ${longestOwnHoldMs.toFixed(0)} ms`);
  const file = join(await temporaryFolder(), 'playlist.json');
  const env = { SIGNAGE_URL: served.url, SIGNAGE_TOKEN: token };
  await measure(`${count} screens, publish by CLI`, tvs, players, async (round) => {
    await writeFile(file, JSON.stringify({ items: items(100 + round) }));
    const argv = ['bin/signage.js', 'playlist', 'publish', '--selector', selector, '-f', file];
    expect(await startProcess(argv, { env }).ended).toBe(0);
  });
  await players.stop();
  await served.stop();
});
