import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { checkAcknowledged, checkLife, sendLostAgain } from './checker.ts';
import { type KilledService, startService } from './killed-service.ts';
import { runLoad, type Workers } from './load.ts';
import { type Acknowledged, addLife, nothingYet } from './model.ts';

const token = `mak_${'KillLoop'.repeat(4)}`;

/** Result of a run. */
export interface KillReport {
  kills: number;
  screens: number;
  bound: number;
  revoked: number;
  rotated: number;
  edits: number;
  events: number;
  /** Batches in flight at a kill, which were repeated. */
  cutOff: number;
  /** Missing acknowledged data, and failed starts. */
  missing: string[];
}

export interface KillOptions {
  kills: number;
  /** Ends the service like a crash. */
  crash?: (service: KilledService) => Promise<void>;
  /** Maximum number of answered calls before a crash. */
  atMostAnswers?: number;
  /** A slow service is killed after this time. Default: 3 s. */
  atMostMs?: number;
  /** Where the service stores its data. Default: the folder. */
  store?: string;
  /** Loads, which alternate from crash to crash. Default: all kinds. */
  loads?: readonly Workers[];
  /** Program to run. Default: the built program. */
  run?: string;
}

const allLoads: readonly Workers[] = [
  { installers: 12, editors: 0, posters: 0 },
  { installers: 2, editors: 10, posters: 0 },
  { installers: 1, editors: 1, posters: 20 },
  { installers: 4, editors: 4, posters: 4 },
  { installers: 1, editors: 0, posters: 0 },
  { installers: 1, editors: 1, posters: 0, publishers: 4 },
];

/** Publications that fill the journal, so that kills come at and after checkpoints, and events. */
export const bulkLoad = {
  atMostAnswers: 80,
  atMostMs: 8000,
  loads: [{ installers: 0, editors: 0, posters: 2, publishers: 2, screensEach: 200 }],
};

/** After one kill in this many, the data of the last life is compared at once. */
const comparedEvery = 4;

/**
 * Starts the service on a folder, puts load on it, kills it at a random moment, and repeats.
 * Compares the acknowledged data of some lives at once, and of all at the end.
 */
export async function killLoop(
  data: string,
  {
    kills,
    crash = (service) => service.kill(),
    atMostAnswers = 200,
    atMostMs = 3000,
    loads = allLoads,
    ...options
  }: KillOptions,
): Promise<KillReport> {
  const seen = nothingYet();
  let service = await startService(data, token, options);
  const venue = await new ManagementClient({ url: service.url, token }).call('createVenue', {
    body: { name: 'Kill test' },
  });
  const missing: string[] = [];
  let cutOff = 0;
  for (let kill = 0; kill < kills && missing.length === 0; kill++) {
    const life = nothingYet();
    const working = runLoad(
      { url: service.url, token, venueId: venue.id, seen: life },
      loads[kill % loads.length] as Workers,
    );
    await answered(life, randomInt(1, atMostAnswers), atMostMs);
    await crash(service);
    await working;
    try {
      service = await startService(data, token, options);
    } catch (error) {
      missing.push(`after kill ${kill + 1}: ${(error as Error).message}`);
      return { ...figures(seen, kill + 1), cutOff, missing };
    }
    cutOff += life.lost.length;
    await sendLostAgain(service, life);
    if (randomInt(comparedEvery) === 0)
      missing.push(...(await checkLife({ url: service.url, token }, life)));
    addLife(seen, life);
  }
  missing.push(...(await checkAcknowledged({ url: service.url, token }, seen)));
  const exitCode = await service.stop();
  if (exitCode !== 0) missing.push(`the last service ended with ${exitCode}`);
  return { ...figures(seen, kills), cutOff, missing };
}

function figures(
  { screens, keys, revoked, rotated, edits, events }: Acknowledged,
  kills: number,
): Omit<KillReport, 'cutOff' | 'missing'> {
  return {
    kills,
    screens: screens.size,
    bound: keys.size,
    revoked: revoked.size,
    rotated: rotated.size,
    edits: edits.size,
    events: [...events.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0),
  };
}

/** Waits for this many more answers, and then for a random time. */
async function answered(seen: Acknowledged, count: number, atMostMs: number): Promise<void> {
  const [enough, tooLate] = [seen.answers + count, performance.now() + atMostMs];
  while (seen.answers < enough && performance.now() < tooLate) await sleep(2);
  await sleep(randomInt(0, 20));
}

/** Runs several such loops concurrently on different folders. */
export async function killInParallel(
  runs: readonly (() => Promise<KillReport>)[],
  width: number,
): Promise<KillReport> {
  const waiting = [...runs];
  const reports: KillReport[] = [];
  const work = async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) reports.push(await run());
  };
  await Promise.all(Array.from({ length: width }, work));
  return sumOf(reports);
}

/** Returns the sums of all figures, and all that is missing. */
export function sumOf(reports: readonly KillReport[]): KillReport {
  const [first, ...others] = reports as [KillReport, ...KillReport[]];
  const sum = { ...first };
  for (const other of others) {
    for (const name of Object.keys(sum) as (keyof KillReport)[])
      if (name !== 'missing') sum[name] += other[name];
  }
  return { ...sum, missing: reports.flatMap(({ missing }) => missing) };
}
