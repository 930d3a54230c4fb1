import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import { runFleet } from '../../../src/simulator/fleet/fleet.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { slowPace } from '../../support/tv/quick-fleet.ts';
import { startService } from '../kills/killed-service.ts';

const token = `mak_${'FleetWeek'.repeat(4)}`;
const tvs = 100;

it(`${tvs} TVs live for a week with a service on files: 268,000 events, none lost and none stored twice`, async () => {
  const service = await startService(join(await temporaryFolder(), 'data'), token);
  const life = { speed: Number.POSITIVE_INFINITY, lifeMs: 7 * dayMs, seed: 'week' };
  const faults = ['lost-answer:events:1%', 'duplicate:events:1%', 'power-cut:every 2d'];
  const { reconciliation, events, seconds, requests } = await runFleet({
    url: service.url,
    token,
    count: tvs,
    ...life,
    ...slowPace,
    faults,
  });
  expect(await service.stop()).toBe(0);
  console.log(
    `${JSON.stringify(events)} in ${seconds.toFixed(0)} s, ${requests} requests; ${JSON.stringify(reconciliation)}`,
  );
  expect(reconciliation).toMatchObject({ outcome: 'compared', devices: tvs, findings: [] });
  expect(reconciliation.events.stored).toBeGreaterThan(260_000);
});
