import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startServed } from '../served.ts';
import { startSimulated } from './simulated.ts';

const token = `mak_${'Simulator'.repeat(4)}`;
const tvs = 10_000;
const bars = { residentMB: 600, stopSeconds: 2 };
const samples = 12;
const sampleEveryMs = 5_000;

/** Starts a service and a fleet with these options. */
async function startFleet(options: string) {
  const served = await startServed(join(await temporaryFolder(), 'data'), token);
  const service = { url: served.url, token, configHome: await temporaryFolder() };
  const argv = ['--scenario', 'week', '--seed', '1', ...options.split(' ')];
  return { served, fleet: startSimulated(service, argv) };
}

it(`resident memory of ${tvs} simulated TVs in one process`, async () => {
  // At 60 times the real speed, each TV posts events every 15 s, and fetches playlist and config
  // every minute.
  const { served, fleet } = await startFleet(`--count ${tvs} --speed 60 --ramp 60s`);
  await fleet.playing(tvs);
  const resident: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await sleep(sampleEveryMs);
    resident.push(await fleet.residentMB());
  }
  const progress = fleet.progress();
  fleet.interrupt();
  const report = await fleet.report();
  await served.stop();
  const [first = 0, last = 0, most] = [resident[0], resident.at(-1), Math.max(...resident)];
  console.log(
    `${tvs} TVs: resident ${first.toFixed(0)} MB, a minute later ${last.toFixed(0)} MB, at most ${most.toFixed(0)} MB (bar: ${bars.residentMB} MB), ` +
      `${((most * 1024) / tvs).toFixed(0)} KB per TV with the program; ${report.hoursLived.toFixed(1)} h simulated in ${report.seconds.toFixed(0)} s; ${progress}`,
  );
  expect(report.tvs.bound).toBe(tvs);
  expect(most).toBeLessThan(bars.residentMB);
});

it('time from Ctrl-C to the end of a fleet of 1,000', async () => {
  const { served, fleet } = await startFleet('--count 1000');
  await fleet.playing(1000);
  await sleep(sampleEveryMs);
  const start = performance.now();
  fleet.interrupt();
  const { events, notes, isInterrupted } = await fleet.report();
  const seconds = (performance.now() - start) / 1000;
  await served.stop();
  const left = notes.length === 0 ? 'nothing left behind' : notes.join(' ');
  console.log(
    `1,000 TVs ended after ${seconds.toFixed(2)} s (bar: ${bars.stopSeconds} s), ${events.acknowledged} events acknowledged; ${left}`,
  );
  expect(isInterrupted).toBe(true);
  expect(seconds).toBeLessThan(bars.stopSeconds);
});
