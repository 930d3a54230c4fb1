import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProgram } from '../../support/process/program.ts';
import { startDurablePostgres } from '../durable-postgres.ts';
import { type BoundTv, fillWithFleet } from '../fleet/fleet.ts';
import { median, share } from '../measure.ts';
import { registerTvs } from '../registered.ts';
import { type Served, startServed, type Usage } from '../served.ts';

const token = `mak_${'TellTheFleet'.repeat(3)}`;
/** The limit of open files of a process is often 20,000. */
const held = 15_000;
/**
 * The memory of the first holds includes the young generation of the heap, which grows under load.
 */
const firstHeld = 2000;
const idleSeconds = 60;
/** Average length of a hold whose `waitSeconds` is 50. */
const holdSeconds = 45;

interface Tally {
  byStatus: Record<string, number>;
  lost: number;
  /** Number of holds that have ended. */
  ended: number;
  /** Times at which a TV got another cursor, in epoch milliseconds. */
  toldAtMs: number[];
}

type HeldTv = Pick<BoundTv, 'tenantId' | 'screenId' | 'apiKey'>;

const playlist = (n: number) => ({
  items: [
    {
      creativeId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e',
      creativeUrl: `https://media.example.com/${n}.mp4`,
      creativeType: 'video' as const,
      duration: 15,
    },
  ],
});

/** Waits until this number of TVs hold a request. */
async function untilHeld({ url }: Served, expected: number): Promise<void> {
  for (let n = 0; n < 300; n++) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (text.includes(`\nsignage_held_devices ${expected}\n`)) break;
    await sleep(200);
  }
}

/** Starts a script with TVs, and waits until each one holds a request. */
async function holdAll(served: Served, tvs: readonly HeldTv[]) {
  const load = await startProgram(new URL('changes-load.js', import.meta.url));
  await load.ask({ url: served.url, tvs });
  await untilHeld(served, tvs.length);
  return load;
}

const authorization = ({ apiKey }: HeldTv) => ({ authorization: `Bearer ${apiKey}` });

/** Returns the milliseconds of playlist requests of a TV, one after another, 200 a second. */
async function playlistTimes({ url }: Served, tv: HeldTv): Promise<number[]> {
  const dispatcher = new Agent({ connections: 1 });
  const times: number[] = [];
  for (let n = 0; n < 3000; n++) {
    const startMs = performance.now();
    const { statusCode, body } = await request(`${url}/devices/${tv.screenId}/playlist`, {
      headers: authorization(tv),
      dispatcher,
    });
    await body.dump();
    expect(statusCode).toBe(200);
    times.push(performance.now() - startMs);
    await sleep(5);
  }
  await dispatcher.close();
  return times;
}

const kilobytes = (before: Usage, after: Usage, count: number) =>
  (((after.residentMB - before.residentMB) * 1024) / count).toFixed(1);

const ms = (value: number) => `${value.toFixed(2)} ms`;

/** Prints the memory and CPU of holds. Calls `work` when they have been measured. */
async function measureHolds(
  title: string,
  served: Served,
  fleet: readonly HeldTv[],
  work = async () => {},
): Promise<void> {
  const before = await served.usage();
  const load = await holdAll(served, fleet.slice(0, firstHeld));
  const first = await served.usage();
  await load.ask({ url: served.url, tvs: fleet.slice(firstHeld) });
  await untilHeld(served, held);
  const after = await served.usage();
  const { ended: endedBefore } = await load.ask<Tally>({});
  await sleep(idleSeconds * 1000);
  const idle = await served.usage();
  const ended = (await load.ask<Tally>({})).ended - endedBefore;
  await work();
  const { byStatus, lost } = await load.ask<Tally>({});
  const cpuMs = idle.cpuMs - after.cpuMs;
  console.log(
    `${title}, ${held} held: ${kilobytes(before, after, held)} KB each, ${kilobytes(first, after, held - firstHeld)} KB without the first ${firstHeld} (bar: 12); ` +
      `${(cpuMs / idleSeconds / 10).toFixed(1)} % of a core while ${ended} holds ended in ${idleSeconds} s, ` +
      `so ${((cpuMs / ended) * 1000).toFixed(0)} µs a hold, and ${((cpuMs / ended) * (held / holdSeconds / 10)).toFixed(1)} % ` +
      `when each lasts ${holdSeconds} s (bar: 5); answers ${JSON.stringify(byStatus)}, lost ${lost}`,
  );
  await load.stop();
}

it('memory and CPU of held requests, and playlists of other TVs beside them', async () => {
  const data = await temporaryFolder();
  const [other, ...fleet] = (await fillWithFleet(data, held + 1)) as [BoundTv, ...BoundTv[]];
  const served = await startServed(data, token);
  await served.stopWatchingHolds();
  await playlistTimes(served, other);
  const alone = share(await playlistTimes(served, other), 0.99);
  await measureHolds('the service', served, fleet, async () => {
    const beside = share(await playlistTimes(served, other), 0.99);
    console.log(
      `playlists of another TV, p99: alone ${ms(alone)}, beside them ${ms(beside)}, ${(beside / alone).toFixed(2)} times (bar: 1.5)`,
    );
  });
  await served.stop();
  const bare = await startServed(data, token, {}, new URL('bare-holds.js', import.meta.url));
  await playlistTimes(bare, other);
  await measureHolds('bare node:http', bare, fleet);
  await bare.stop();
});

it('one key in 2,000 connections that pipeline holds and never read', async () => {
  const data = await temporaryFolder();
  const [honest, stolen] = (await fillWithFleet(data, 1000)) as [BoundTv, BoundTv];
  const served = await startServed(data, token);
  await playlistTimes(served, honest);
  const alone = share(await playlistTimes(served, honest), 0.99);
  const before = await served.usage();
  const changes = await request(`${served.url}/devices/${stolen.screenId}/changes`, {
    headers: authorization(stolen),
  });
  const { cursor } = (await changes.body.json()) as { cursor: string };
  const load = await startProgram(new URL('changes-load.js', import.meta.url));
  const tvs = Array.from({ length: 2000 }, () => stolen);
  await load.ask({ url: served.url, tvs, attackAfter: cursor });
  // The first measurement includes the second in which the connections send all their requests.
  const beside = share(await playlistTimes(served, honest), 0.99);
  const later = share(await playlistTimes(served, honest), 0.99);
  const after = await served.usage();
  console.log(
    `${tvs.length} connections of one key with 20 pipelined holds each: ${(after.residentMB - before.residentMB).toFixed(0)} MB; ` +
      `playlists of an honest TV, p99: alone ${ms(alone)}, beside them ${ms(beside)}, ${(beside / alone).toFixed(2)} times, ` +
      `once all have sent their requests ${ms(later)}, ${(later / alone).toFixed(2)} times (bar: 2)`,
  );
  await load.stop();
  await served.stop();
});

/** Prints the times from the publications to one screen after another until the hint of each. */
async function printHints(
  title: string,
  { url }: Served,
  fleet: readonly HeldTv[],
  load: Awaited<ReturnType<typeof holdAll>>,
): Promise<void> {
  const management = new ManagementClient({ url, token });
  const times: number[] = [];
  for (let n = 0; n < 500; n++) {
    const { screenId } = fleet[(n * 7) % fleet.length] as HeldTv;
    const sentMs = Date.now();
    await management.call('publishPlaylist', { params: { id: screenId }, body: playlist(n) });
    await sleep(20);
    const { toldAtMs } = await load.ask<Tally>({});
    if (toldAtMs[0] !== undefined) times.push(toldAtMs[0] - sentMs);
  }
  console.log(
    `${title}: from the request of a publication to the hint: median ${median(times)}, p99 ${share(times, 0.99)} ms of ${times.length}`,
  );
}

it('time from a publication to its hint, with 1,000 TVs that hold', async () => {
  const data = await temporaryFolder();
  const fleet = await fillWithFleet(data, 1000);
  const served = await startServed(data, token);
  const load = await holdAll(served, fleet);
  await printHints('one instance (bar: p99 200)', served, fleet, load);
  await load.stop();
  await served.stop();
});

it('time to the hint through another instance on PostgreSQL, with 1,000 TVs that hold', async () => {
  const server = await startDurablePostgres();
  const store = await server.create('changes');
  const folder = await temporaryFolder();
  const holding = await startServed(folder, token, { store });
  const publishing = await startServed(folder, token, { store });
  const fleet = await registerTvs(holding.url, token, 1000);
  const load = await holdAll(holding, fleet);
  await printHints('through another instance (bar: p99 500)', publishing, fleet, load);
  await load.stop();
  await holding.stop();
  await publishing.stop();
  await server.end();
});
