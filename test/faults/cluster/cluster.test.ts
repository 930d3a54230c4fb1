import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { Cluster, type FaultReport, injectFaults, terminateBackends } from './scenario.ts';

// The full suite also stops the database at once.
it('two instances on one database keep acknowledged data, and fail no call under any fault', {
  timeout: 240_000,
}, async () => {
  const database = await freshDatabase();
  const cluster = await Cluster.start(await temporaryFolder(), database);
  const load = await cluster.load({ installers: 1, editors: 1, posters: 2 });
  const reports: FaultReport[] = [];
  const note = async (fault: string, happen: () => Promise<void>) =>
    void reports.push(await injectFaults(load, fault, happen));
  await note('an instance is killed, and all backends are terminated', async () => {
    await cluster.kill(0);
    await terminateBackends(database);
  });
  await note('the connections of the other one are cut', async () => cluster.cut());
  await cluster.start(0);
  const restarts = reports.length;
  for (const place of [0, 1]) {
    await cluster.healthy();
    await note(`instance ${place} is restarted`, async () => {
      await cluster.stop(place);
      await cluster.start(place);
    });
  }
  await load.stop();
  for (const report of reports) expect(report.undocumented, report.fault).toEqual([]);
  // During a restart, clients see only answers that tell them to retry.
  for (const { fault, troubles } of reports.slice(restarts))
    expect(
      Object.keys(troubles).filter((outcome) => outcome !== '503'),
      fault,
    ).toEqual([]);
  expect(load.failed).toEqual([]);
  expect(await cluster.missing(load)).toEqual([]);
  expect(load.seen.screens.size).toBeGreaterThan(0);
  expect(load.seen.rotated.size).toBeGreaterThan(0);
  expect([...load.seen.events.values()].some(({ acknowledged }) => acknowledged > 20)).toBe(true);
  await cluster.close();
});
