import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startServed } from './served.ts';
import { startSimulated } from './simulated.ts';

const token = `mak_${'Simulator'.repeat(4)}`;
const tvs = 10_000;
const bars = { residentMB: 600, stopSeconds: 2 };
const looks = 12;
const everyMs = 5_000;

async function start(argv: readonly string[]) {
  const served = await startServed(join(await temporaryFolder(), 'data'), token);
  return {
    served,
    fleet: startSimulated({ url: served.url, token, configHome: await temporaryFolder() }, argv),
  };
}

it(`what ${tvs} TVs cost that play, ask and report, in one process`, async () => {
  // An item each five minutes and a heartbeat each quarter of an hour, 60 times as fast: a report
  // each 15 s, playlist and config each minute.
  const { served, fleet } = await start([
    '--scenario',
    'week',
    '--count',
    String(tvs),
    '--speed',
    '60',
    '--ramp',
    '60s',
    '--seed',
    '1',
  ]);
  await fleet.playing(tvs);
  const resident: number[] = [];
  for (let look = 0; look < looks; look++) {
    await sleep(everyMs);
    resident.push(await fleet.residentMB());
  }
  const progress = fleet.progress();
  fleet.interrupt();
  const report = await fleet.report();
  await served.stop();
  const [first = 0, last = 0, most] = [resident[0], resident.at(-1), Math.max(...resident)];
  console.log(
    `${tvs} TVs: resident ${first.toFixed(0)} MB, a minute later ${last.toFixed(0)} MB, at most ${most.toFixed(0)} MB (bar: ${bars.residentMB} MB), ` +
      `${((most * 1024) / tvs).toFixed(0)} KB for each TV, the program included; ${report.hoursLived.toFixed(1)} h lived in ${report.seconds.toFixed(0)} s; ${progress}`,
  );
  expect(report.tvs.bound).toBe(tvs);
  expect(most).toBeLessThan(bars.residentMB);
});

it('how long a fleet of 1,000 takes to end when it is interrupted', async () => {
  const { served, fleet } = await start(['--scenario', 'week', '--count', '1000', '--seed', '1']);
  await fleet.playing(1000);
  await sleep(everyMs);
  const begun = performance.now();
  fleet.interrupt();
  const { events, notes, isInterrupted } = await fleet.report();
  const seconds = (performance.now() - begun) / 1000;
  await served.stop();
  const left = notes.length === 0 ? 'nothing left behind' : notes.join(' ');
  console.log(
    `1,000 TVs ended after ${seconds.toFixed(2)} s (bar: ${bars.stopSeconds} s), ${events.acknowledged} events acknowledged; ${left}`,
  );
  expect(isInterrupted).toBe(true);
  expect(seconds).toBeLessThan(bars.stopSeconds);
});
