import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startPostgres } from '../../support/postgres/postgres-server.ts';
import { Cluster, type FaultReport, injectFaults, terminateBackends } from './scenario.ts';

const rounds = 5;
const wellAgainMs = 5000;

it('two instances keep acknowledged data, and recover within 5 s of any fault', async () => {
  const server = await startPostgres({ settings: ['fsync=on', 'full_page_writes=on'] });
  const database = server.url('postgres');
  const cluster = await Cluster.start(await temporaryFolder(), database);
  const load = await cluster.load({ installers: 6, editors: 6, posters: 20 });
  const reports: FaultReport[] = [];
  const note = async (fault: string, happen: () => Promise<void>) => {
    const report = await injectFaults(load, fault, happen);
    console.log(JSON.stringify(report));
    reports.push(report);
  };
  const restart = async (place: number) => {
    await cluster.stop(place);
    await cluster.start(place);
  };
  for (let round = 0; round < rounds; round++) {
    await note('an instance is killed', () => cluster.kill(round % 2));
    await note('it is started again', () => cluster.start(round % 2));
    await note('all backends are terminated', () => terminateBackends(database));
    await note('the connections of one instance are cut', async () => cluster.cut());
    await note('the database stops at once, and starts again', async () => {
      await server.stop('QUIT');
      await server.start();
    });
    for (const place of [0, 1]) {
      await cluster.healthy();
      await note('an instance is restarted', () => restart(place));
    }
  }
  await load.stop();
  const missing = await cluster.missing(load);
  const { seen, tries } = load;
  const events = [...seen.events.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  console.log(
    `${tries.length} tries, ${seen.screens.size} screens, ${seen.revoked.size} revoked, ${seen.rotated.size} rotated, ${events} events; missing: ${missing.length}`,
  );
  await cluster.close();
  await server.end();
  for (const report of reports) {
    expect(report.undocumented, report.fault).toEqual([]);
    expect(report.troubledMs, report.fault).toBeLessThan(wellAgainMs);
    if (report.fault === 'an instance is restarted') expect(report.troubles).toEqual({});
  }
  expect(load.failed).toEqual([]);
  expect(missing).toEqual([]);
});
