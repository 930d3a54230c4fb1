import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProgram } from '../../support/process/program.ts';
import { fillWithFleet } from '../fleet/fleet.ts';
import { startServed } from '../served.ts';

const token = `mak_${'LongHolds'.repeat(4)}`;
/** The limit of open files of a process is often 20,000. */
const held = 15_000;

const bareServer = new URL('bare-holds.js', import.meta.url);

it.each([
  { server: 'the service', waitSeconds: 50, bar: 6 },
  { server: 'the service', waitSeconds: 120, bar: 3 },
  { server: 'bare node:http', waitSeconds: 120, script: bareServer },
])(`CPU of ${held} TVs held for $waitSeconds s by $server`, async (row) => {
  const { server, waitSeconds, bar, script } = row;
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, held);
  const served = await startServed(data, token, {}, script);
  await served.stopWatchingHolds();
  const load = await startProgram(new URL('changes-load.js', import.meta.url));
  await load.ask({ url: served.url, tvs, waitSeconds });
  // All holds begin within seconds. Later, they are spread.
  await sleep(2000 * waitSeconds);
  const ended = async () => (await load.ask<{ ended: number }>({})).ended;
  const before = { ended: await ended(), ...(await served.usage()) };
  await sleep(1000 * waitSeconds);
  const after = { ended: await ended(), ...(await served.usage()) };
  const cpuMs = after.cpuMs - before.cpuMs;
  const holds = after.ended - before.ended;
  console.log(
    `${server}, ${held} holds of ${waitSeconds} s: ${(cpuMs / waitSeconds / 10).toFixed(1)} % of a core (bar: ${bar ?? '–'}), ${((1000 * cpuMs) / holds).toFixed(0)} µs a hold`,
  );
  await load.stop();
  await served.stop();
});
