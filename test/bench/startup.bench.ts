// Starts of commands, and of the service. `BASELINE=/path/to/checkout` measures a second checkout,
// which must be built, in turn with this one.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout, endProcesses, startProcess } from '../support/process/signage-process.ts';
import { item } from '../support/service/content.ts';
import { median, share, summary, timeCalls } from './measure.ts';
import { startServed } from './served.ts';

const token = `mak_${'Startup'.repeat(4)}`;
const rounds = 25;
const signage = join(checkout, 'bin/signage.js');

/** Commands, and the longest time that each may take, as a multiple of `node -e 0`. */
const starts: readonly { argv: readonly string[]; bar: number }[] = [
  { argv: ['--version'], bar: 1.5 },
  { argv: ['--help'], bar: 1.5 },
  { argv: ['venue', 'list'], bar: 3 },
];

function timed(argv: readonly string[], env: Record<string, string>): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, argv, {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  });
  const tookMs = performance.now() - start;
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return tookMs;
}

it('start of commands, as a multiple of node -e 0', async () => {
  const served = await startServed(join(await temporaryFolder(), 'data'), token);
  const env = {
    SIGNAGE_URL: served.url,
    SIGNAGE_TOKEN: token,
    XDG_CONFIG_HOME: await temporaryFolder(),
  };
  const bare: number[] = [];
  const took = starts.map((): number[] => []);
  // They alternate, so that other programs disturb all alike.
  for (let round = -1; round < rounds; round++) {
    const bareMs = timed(['-e', '0'], env);
    const all = starts.map(({ argv }) => timed([signage, ...argv], env));
    if (round < 0) continue;
    bare.push(bareMs);
    for (const [at, ms] of all.entries()) took[at]?.push(ms);
  }
  console.log(`node -e 0: ${summary(bare)} ms`);
  for (const [at, { argv, bar }] of starts.entries()) {
    const durations = took[at] ?? [];
    const times = median(durations) / median(bare);
    const verdict = times <= bar ? 'met' : 'MISSED';
    console.log(
      `signage ${argv.join(' ')}: ${times.toFixed(2)}× (bar: ${bar}×, ${verdict}), ${summary(durations)} ms`,
    );
  }
  await served.stop();
});

afterEach(endProcesses);

const checkouts = [checkout, process.env.BASELINE ?? []].flat();
const sizes = [1_000, 10_000];
const pairs = 11;
const idleRounds = 2;
const idleMs = 60_000;
const clockTicksPerSecond = 100;

/** Starts the service of a checkout without Node options, and waits until it is ready. */
async function startService(cwd: string, data: string) {
  const startMs = performance.now();
  const service = startProcess(['bin/signage.js', 'serve', '--port', '0', '--data', data], {
    cwd,
    env: { SIGNAGE_ADMIN_TOKEN: token, SIGNAGE_LOG_FORMAT: 'json' },
  });
  const [, url = ''] = await service.until(/"url":"([^"]+)","msg":"The service is ready/);
  return { ...service, url, readyMs: performance.now() - startMs };
}

async function stop({ signal, ended }: Awaited<ReturnType<typeof startService>>): Promise<void> {
  signal('SIGTERM');
  await ended;
}

/** The CPU time and the resident memory of a process, as Linux counts them. */
function usageOf(pid: number): { cpuMs: number; residentMB: number } {
  const [, times = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = times.split(' ').slice(11, 13).map(Number);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMs: ((user + system) * 1000) / clockTicksPerSecond,
    residentMB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
  };
}

type Clients = typeof import('../../src/entry/client.ts');

/**
 * Makes a data folder with bound screens, which have playlists and their copies in the mirror. Uses
 * the clients of the checkout, because the answers of another one may differ.
 */
async function makeFolder(cwd: string, screens: number): Promise<string> {
  const { ManagementClient, RuntimeClient } = (await import(
    join(cwd, 'dist/entry/client.js')
  )) as Clients;
  const data = join(await temporaryFolder(), 'data');
  const service = await startService(cwd, data);
  const management = new ManagementClient({ url: service.url, token });
  const anyone = new RuntimeClient({ url: service.url });
  const items = Array.from({ length: 10 }, () => item());
  const { id: venueId } = await management.call('createVenue', { body: { name: 'Benchmark' } });
  await timeCalls(screens, 16, async (n) => {
    const body = { venueId, name: `Screen ${n}` };
    const { id } = await management.call('createScreen', { body });
    const { code } = await management.call('createCode', { body: { screenId: id } });
    await anyone.register({ pairingCode: code, deviceInfo: { model: 'Benchmark' } });
    await management.call('publishPlaylist', { params: { id }, body: { items } } as never);
  });
  const readiness = async () => (await fetch(`${service.url}/readyz?verbose`)).text();
  while (/"pending":[1-9]/.test(await readiness())) await sleep(500);
  await stop(service);
  return data;
}

const spread = (values: readonly number[]) =>
  `${median(values).toFixed(0)} (90 %: ${share(values, 0.05).toFixed(0)}–${share(values, 0.95).toFixed(0)})`;

it.each(sizes)(
  'start of the service with %i screens, and its memory when idle',
  async (screens) => {
    const places: { cwd: string; data: string; copy: string; figures: Record<string, number[]> }[] =
      [];
    for (const cwd of checkouts) {
      const figures = { ready: [], cpu: [], idle: [] };
      const copy = join(await temporaryFolder(), 'data');
      places.push({ cwd, data: await makeFolder(cwd, screens), copy, figures });
    }
    const start = ({ cwd, data, copy }: { cwd: string; data: string; copy: string }) => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(data, copy, { recursive: true });
      return startService(cwd, copy);
    };
    for (let round = -1; round < pairs; round++)
      for (const place of places) {
        const service = await start(place);
        const { cpuMs } = usageOf(service.pid);
        await stop(service);
        if (round < 0) continue;
        place.figures.ready?.push(service.readyMs);
        place.figures.cpu?.push(cpuMs);
      }
    for (let round = 0; round < idleRounds; round++) {
      const services = [];
      for (const place of places) services.push({ ...(await start(place)), ...place });
      await sleep(idleMs);
      for (const service of services) {
        service.figures.idle?.push(usageOf(service.pid).residentMB);
        await stop(service);
      }
    }
    for (const { cwd, figures } of places) {
      const { ready = [], cpu = [], idle = [] } = figures;
      console.log(
        `${screens} screens, ${cwd}: ready after ${spread(ready)} ms, ${spread(cpu)} ms of CPU; idle ${spread(idle)} MB`,
      );
    }
  },
);
