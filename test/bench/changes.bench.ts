import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startProgram } from '../support/program.ts';
import { startProcess } from '../support/signage-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type BoundTv, fillWithFleet } from './fleet.ts';
import { median } from './measure.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'TellTheFleet'.repeat(3)}`;
const quick = process.env.BENCH_QUICK === '1';
/** The limit of open files of a process is often 20,000. */
const held = quick ? 2000 : 15_000;
const idleSeconds = quick ? 10 : 60;

interface Tally {
  byStatus: Record<string, number>;
  lost: number;
  /** Times at which a TV got another cursor, in epoch milliseconds. */
  toldAtMs: number[];
}

const share = (values: readonly number[], part: number) =>
  values.toSorted((one, other) => one - other)[Math.ceil(part * values.length) - 1] ?? Number.NaN;

async function manage({ url }: Served, method: string, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

const playlist = (n: number) => ({
  items: [
    {
      creativeId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e',
      creativeUrl: `https://media.example.com/${n}.mp4`,
      creativeType: 'video',
      duration: 15,
    },
  ],
});

/** Starts a script with TVs, and waits until each one holds a request. */
async function holdAll(
  served: Served,
  tvs: readonly BoundTv[],
  script = new URL('changes-load.js', import.meta.url),
) {
  const load = await startProgram(script);
  await load.ask({ url: served.url, tvs });
  const expected = tvs.length;
  for (let n = 0; n < 300; n++) {
    const text = await (await fetch(`${served.url}/metrics`)).text();
    if (text.includes(`\nsignage_held_devices ${expected}\n`)) break;
    await sleep(200);
  }
  return load;
}

it('memory and CPU of held requests', async () => {
  const data = await temporaryFolder();
  const fleet = await fillWithFleet(data, held);
  const served = await startServed(data, token);
  const before = await served.usage();
  const load = await holdAll(served, fleet);
  const after = await served.usage();
  await sleep(idleSeconds * 1000);
  const idle = await served.usage();
  const { byStatus, lost } = await load.ask<Tally>({});
  console.log(
    `${held} held: ${(((after.residentMB - before.residentMB) * 1024) / held).toFixed(1)} KB each (bar: 12), ` +
      `${((idle.cpuMs - after.cpuMs) / idleSeconds / 10).toFixed(1)} % of a core (bar: 5); answers ${JSON.stringify(byStatus)}, lost ${lost}`,
  );
  await load.stop();
  await served.stop();
});

it('time from a publication to its hint, with 1,000 TVs that hold', async () => {
  const data = await temporaryFolder();
  const fleet = await fillWithFleet(data, 1000);
  const served = await startServed(data, token);
  const load = await holdAll(served, fleet);
  const times: number[] = [];
  for (let n = 0; n < (quick ? 50 : 500); n++) {
    const tv = fleet[(n * 7) % fleet.length] as BoundTv;
    const sentMs = Date.now();
    await manage(served, 'PUT', `/v1/screens/${tv.screenId}/playlist`, playlist(n));
    await sleep(20);
    const { toldAtMs } = await load.ask<Tally>({});
    if (toldAtMs[0] !== undefined) times.push(toldAtMs[0] - sentMs);
  }
  const startMs = Date.now();
  await manage(served, 'PUT', `/v1/tenants/${fleet[0]?.tenantId}/config`, { colour: 'red' });
  await sleep(3000);
  const { toldAtMs } = await load.ask<Tally>({});
  console.log(
    `from the request of a publication to the hint: median ${median(times)}, p99 ${share(times, 0.99)} ms of ${times.length} (bar: 200); ` +
      `one config for ${toldAtMs.length} TVs: last one told after ${Math.max(...toldAtMs) - startMs} ms`,
  );
  await load.stop();
  await served.stop();
});

it('time from a publication on 1,000 screens to the last of their players', async () => {
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, 1000);
  const served = await startServed(data, token);
  const players = await holdAll(served, tvs, new URL('players.js', import.meta.url));
  const file = join(await temporaryFolder(), 'playlist.json');
  const fetched: number[] = [];
  const shown: number[] = [];
  const published: number[] = [];
  for (let round = 0; round < (quick ? 2 : 7); round++) {
    await players.ask({});
    await writeFile(file, JSON.stringify(playlist(round)));
    const startMs = Date.now();
    const argv = ['bin/signage.js', 'playlist', 'publish', '--selector', '!none', '-f', file];
    const env = { SIGNAGE_URL: served.url, SIGNAGE_TOKEN: token };
    expect(await startProcess(argv, { env }).ended).toBe(0);
    published.push(Date.now() - startMs);
    await sleep(5000);
    const { fetchedAtMs, shownAtMs } = await players.ask<Record<string, number[]>>({});
    expect(fetchedAtMs).toHaveLength(tvs.length);
    fetched.push(Math.max(...(fetchedAtMs ?? [])) - startMs);
    shown.push(Math.max(...(shownAtMs ?? [])) - startMs);
  }
  console.log(
    `one command for 1,000 screens: it took ${median(published)} ms; the last player had the version after ${median(fetched)} ms ` +
      `(${Math.min(...fetched)}–${Math.max(...fetched)}), and showed it after ${median(shown)} ms (bar: 5,000)`,
  );
  await players.stop();
  await served.stop();
});
