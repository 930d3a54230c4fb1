import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { fillWithFleet } from '../../bench/fleet/fleet.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProgram } from '../../support/process/program.ts';
import { checkout, endProcesses, startProcess } from '../../support/process/signage-process.ts';
import { item } from '../../support/service/content.ts';
import { askHonestly, holdAttacks, quantile, startAttack } from './honest-tv.ts';
import { startServed } from './served.ts';

const token = `mak_${'HoldTheFleet'.repeat(3)}`;
const load = { kinds: ['playlist'], perSecond: 90, seconds: 15 } as const;
const mostMB = 400;
const connections = {
  'a revoked key': 10_000,
  'half of a request': 10_000,
  'unread answers': 2_000,
  'a cursor of 1 MB': 500,
};

afterEach(endProcesses);

it.each(holdAttacks)(
  `less than ${mostMB} MB more, and 200 for an honest TV: %s`,
  async (attack) => {
    const served = await startServed();
    const { url, manage } = served;
    const [tv, stolen] = [await served.tv(), await served.tv()];
    await manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    const { screenId, apiKey: key } = stolen;
    const { cursor } = await new RuntimeClient({ url }).withKey(key).fetchChanges(screenId);
    if (attack === 'a revoked key')
      await manage('POST', `/v1/devices/${stolen.deviceId}/revoke`, {});
    const honest = { url, screenId: tv.screenId, key: tv.apiKey };
    await askHonestly(honest, { ...load, seconds: 5 });
    const alone = await askHonestly(honest, load);
    const before = await served.usage();
    const size = { connections: connections[attack], perSecond: 2000 };
    const attackers = await startAttack({ attack, url, screenId, key, cursor, ...size });
    const beside = await askHonestly(honest, load);
    const { statuses } = await attackers.met();
    const after = await served.usage();
    await attackers.stop();
    const moreMB = (after.residentBytes - before.residentBytes) / 2 ** 20;
    console.log(
      `${attack}, ${connections[attack]} connections: ${moreMB.toFixed(0)} MB more, playlists of an honest TV p99 ` +
        `${quantile(alone.tookMs, 0.99).toFixed(1)} ms alone, ${quantile(beside.tookMs, 0.99).toFixed(1)} ms beside; statuses ${JSON.stringify(statuses)}`,
    );
    expect(Object.keys(beside.statuses)).toEqual(['200']);
    expect(moreMB).toBeLessThan(mostMB);
    await served.stop();
  },
);

it('a process with 5,000 held TVs answers all of them and exits 0 within 12 s of SIGTERM', async () => {
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, 5000);
  const argv = [join(checkout, 'bin/signage.js'), 'serve', '--data', data, '--port', '0'];
  const service = startProcess(argv, { env: { SIGNAGE_ADMIN_TOKEN: token } });
  const [url] = await service.until(/http:\/\/127\.0\.0\.1:\d+/);
  const load = await startProgram(new URL('../../bench/holds/changes-load.js', import.meta.url));
  await load.ask({ url, tvs, isOnce: true });
  const isHeld = async () =>
    (await (await fetch(`${url}/metrics`)).text()).includes(
      `\nsignage_held_devices ${tvs.length}\n`,
    );
  while (!(await isHeld())) await sleep(200);
  const startMs = performance.now();
  service.signal('SIGTERM');
  const code = await service.ended;
  const tookSeconds = (performance.now() - startMs) / 1000;
  const { ended, lost } = await load.ask<{ ended: number; lost: number }>({});
  console.log(
    `SIGTERM with ${tvs.length} held: exit code ${code} after ${tookSeconds.toFixed(1)} s, ${ended} answered, ${lost} lost`,
  );
  expect({ code, ended, lost }).toEqual({ code: 0, ended: tvs.length, lost: 0 });
  expect(tookSeconds).toBeLessThan(12);
  await load.stop();
});
