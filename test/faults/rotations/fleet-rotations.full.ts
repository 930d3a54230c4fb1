import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Clock, dayMs, hourMs, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startService, adminToken as token } from '../../support/service/service.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';

const tvs = 100;

it(`${tvs} TVs change their keys every hour for two days, on a bad network and with power cuts: each ends with one key that works`, async () => {
  const service = await startService<Clock>({
    store: join(await temporaryFolder(), 'data'),
    clock: systemClock,
  });
  const faults = [
    ...[
      'lost-request:rotate:10%',
      'lost-answer:rotate:40%',
      'cut-answer:rotate:10%',
      'duplicate:rotate:10%',
    ],
    ...['lost-answer:5%', 'power-cut:every 6h', 'offline:20m every 1d'],
  ];
  const life = { lifeMs: 2 * dayMs, rotateEveryMs: hourMs, seed: 'rotations' };
  const { reconciliation, rotations, fallBacks, seconds, requests } = await quickFleet({
    url: service.url,
    token,
    count: tvs,
    ...life,
    faults,
  });
  console.log(
    `${rotations} rotations, ${fallBacks} fall-backs, ${requests} requests in ${seconds.toFixed(0)} s; ${JSON.stringify(reconciliation)}`,
  );
  const { keys } = reconciliation;
  expect(reconciliation).toMatchObject({ outcome: 'compared', devices: tvs, findings: [] });
  expect(keys?.tvs).toBe(tvs);
  expect(keys?.working).toBe(tvs + (keys?.underWay ?? 0));
  expect(rotations).toBeGreaterThan(40 * tvs);
  await service.close();
});
