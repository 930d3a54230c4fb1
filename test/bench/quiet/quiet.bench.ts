import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Program, startProgram } from '../../support/process/program.ts';
import { nodeOptions } from '../../support/runtime/node-options.ts';
import { item } from '../../support/service/content.ts';
import { timeCalls } from '../measure.ts';
import { startServed } from '../served.ts';
import {
  call,
  closeConnections,
  type Entrant,
  getAsTv,
  inTurn,
  type LoneTv,
  pair,
  printRatios,
  sendHeartbeat,
} from './lone.ts';

const token = `mak_${'CheapWhenQuiet'.repeat(3)}`;
const fleet = 1000;
/** Another checkout of this project, already built. It is compared as well. */
const baseline = process.env.BASELINE;
/** Waits of the TVs of each entrant, and seconds in which all of their holds end. */
const waits = { ours: 120, baseline: 50 };
const holdSeconds = 120;

interface Service extends Entrant {
  newScreen(): Promise<string>;
  stop(): Promise<void>;
}

async function startService(name: string, script?: URL): Promise<Service> {
  const data = `${await temporaryFolder()}/data`;
  const served = await startServed(data, token, {}, script);
  const { url } = served;
  await served.stopWatchingHolds();
  const { id: venueId } = await call<{ id: string }>(url, '/v1/venues', token, { name: 'Shop' });
  let screens = 0;
  const newScreen = async () => {
    const body = { venueId, name: `Screen ${screens++}` };
    return (await call<{ id: string }>(url, '/v1/screens', token, body)).id;
  };
  const tvs: LoneTv[] = [];
  await timeCalls(fleet, 16, async () => {
    tvs.push(await pair(url, token, await newScreen()));
  });
  const cpuMs = async () => (await served.usage()).cpuMs;
  return { name, url, tvs, newScreen, cpuMs, stop: served.stop };
}

/** Starts bare `node:http`, which parses, appends and syncs. */
async function startBare(tvs: readonly LoneTv[]): Promise<Entrant & Pick<Program, 'stop'>> {
  const folder = await temporaryFolder();
  await writeFile(`${folder}/devices.json`, JSON.stringify(tvs));
  const script = new URL('../http/bare.js', import.meta.url);
  const program = await startProgram<{ url: string }>(script, [folder], { nodeOptions });
  const cpuMs = async () => (await program.ask<{ cpuMs: number }>('usage')).cpuMs;
  return { name: 'bare', url: program.first.url, tvs, cpuMs, stop: program.stop };
}

let services: Service[];
let bare: Awaited<ReturnType<typeof startBare>>;
beforeAll(async () => {
  const ours = await startService('ours');
  services = [ours];
  if (baseline !== undefined)
    services.push(
      await startService('baseline', pathToFileURL(`${baseline}/test/bench/served.js`)),
    );
  bare = await startBare(ours.tvs);
}, 120_000);
afterAll(async () => {
  await closeConnections();
  for (const one of [...services, bare]) await one.stop();
});

it.each([
  { perSecond: 17, slices: 11, sliceSeconds: 8 },
  { perSecond: 200, slices: 11, sliceSeconds: 2 },
])('CPU of a heartbeat at $perSecond/s', async (pace) => {
  const entrants = [...services, bare];
  const rows = await inTurn(entrants, pace, sendHeartbeat);
  printRatios(`heartbeat at ${pace.perSecond}/s`, entrants, rows);
});

it.skipIf(baseline === undefined).each(['playlist', 'config', 'changes'])(
  'CPU of a %s at 17/s',
  async (resource) => {
    const items = Array.from({ length: 10 }, () => item());
    for (const { url, tvs } of services)
      for (const { screenId } of tvs.slice(0, 200))
        await call(url, `/v1/screens/${screenId}/playlist`, token, { items }, 'PUT');
    const pace = { perSecond: 17, slices: 11, sliceSeconds: 8 };
    const rows = await inTurn(services, pace, (entrant, n) => getAsTv(entrant, n % 200, resource));
    printRatios(`${resource} at 17/s`, services, rows);
  },
);

it('CPU of 100 events, one after another', async () => {
  const entrants = [...services, bare];
  const events = async (entrant: Entrant, n: number) => {
    for (let event = 0; event < 100; event++) await sendHeartbeat(entrant, 100 * n + event);
  };
  const rows = await inTurn(entrants, { perSecond: 1, slices: 11, sliceSeconds: 1 }, events);
  printRatios(
    '100 events',
    entrants,
    rows.map((row) => row.map((us) => us / 1000)),
    'ms',
  );
});

it.skipIf(baseline === undefined)('CPU of a pairing', async () => {
  const pace = { perSecond: 5, slices: 11, sliceSeconds: 3 };
  const screens = new Map<string, string[]>();
  for (const one of services) {
    const ids: string[] = [];
    for (let n = 0; n < pace.perSecond * pace.sliceSeconds * (pace.slices + 1); n++)
      ids.push(await one.newScreen());
    screens.set(one.url, ids);
  }
  const rows = await inTurn(services, pace, ({ url }) =>
    pair(url, token, screens.get(url)?.pop() as string),
  );
  printRatios('pairing', services, rows);
});

it.skipIf(baseline === undefined)(`CPU of ${fleet} held TVs with heartbeats`, async () => {
  const loads: Program[] = [];
  for (const { name, url, tvs } of services) {
    const waitSeconds = waits[name as keyof typeof waits];
    const load = await startProgram(new URL('../holds/changes-load.js', import.meta.url));
    await load.ask({ url, tvs, waitSeconds });
    loads.push(load);
  }
  // All holds begin together. Later, they are spread.
  await sleep(holdSeconds * 1000);
  const pace = { perSecond: 17, slices: 1, sliceSeconds: holdSeconds };
  const rows = await inTurn(services, pace, sendHeartbeat);
  printRatios(
    `${fleet} held TVs with heartbeats`,
    services,
    rows.map((row) => row.map((us) => (us * 17) / 10_000)),
    '% of a core',
  );
  for (const load of loads) await load.stop();
});
