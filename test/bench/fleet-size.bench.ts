import { randomUUID } from 'node:crypto';
import { it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fillWithFleet } from './fleet.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'FleetSize'.repeat(4)}`;
const sizes = [1_000, 100_000];
const rounds = 5;
const perRound = 400;
const atOnce = 32;

/** Runs `count` tasks, `atOnce` at a time; answers how many milliseconds each took of the whole. */
async function timed(count: number, task: (n: number) => Promise<void>): Promise<number> {
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await task(next++);
    }),
  );
  return (performance.now() - start) / count;
}

interface Round {
  codeMs: number;
  registrationMs: number;
  registrationCpuMs: number;
}

async function round(served: Served, venueId: string): Promise<Round> {
  const management = new ManagementClient({ url: served.url, token });
  const anyone = new RuntimeClient({ url: served.url });
  const screens: string[] = [];
  for (let n = 0; n < perRound; n++) screens.push((await management.call('createScreen', { body: { venueId, name: randomUUID() } })).id);
  const codes: string[] = [];
  const codeMs = await timed(perRound, async (n) => {
    codes[n] = (await management.call('createCode', { body: { screenId: screens[n] as string } })).code;
  });
  const before = await served.fared();
  const registrationMs = await timed(perRound, async (n) => {
    await anyone.register({ pairingCode: codes[n] as string, deviceInfo: { model: 'Frame' } });
  });
  return { codeMs, registrationMs, registrationCpuMs: ((await served.fared()).cpuMs - before.cpuMs) / perRound };
}

function middle(values: number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, median, high] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((value) =>
    (value as number).toFixed(2),
  );
  return `${median} (${low}–${high})`;
}

it('what a registration costs in a fleet of 1,000 and of 100,000', async () => {
  const fleets: { size: number; served: Served; venueId: string; rounds: Round[] }[] = [];
  for (const size of sizes) {
    const data = await temporaryFolder();
    await fillWithFleet(data, size);
    const served = await startServed(data, token);
    const venue = await new ManagementClient({ url: served.url, token }).call('createVenue', { body: { name: 'Benchmark' } });
    fleets.push({ size, served, venueId: venue.id, rounds: [] });
  }
  for (const fleet of fleets) await round(fleet.served, fleet.venueId);
  for (let n = 0; n < rounds; n++) for (const fleet of fleets) fleet.rounds.push(await round(fleet.served, fleet.venueId));
  // Long enough for the checkpoint that comes once a minute.
  const until = performance.now() + 65_000;
  while (performance.now() < until) for (const fleet of fleets) await round(fleet.served, fleet.venueId);
  for (const { size, served, rounds: done } of fleets) {
    const { longestHoldMs, residentMB } = await served.fared();
    const column = (name: keyof Round) => middle(done.map((one) => one[name]));
    console.log(
      `${size} screens: start ${served.startMs.toFixed(0)} ms, ${residentMB.toFixed(0)} MB; registration ${column('registrationMs')} ms, ` +
        `server CPU ${column('registrationCpuMs')} ms; code ${column('codeMs')} ms; longest hold of the event loop ${longestHoldMs.toFixed(1)} ms`,
    );
  }
  for (const { served } of fleets) await served.stop();
});
