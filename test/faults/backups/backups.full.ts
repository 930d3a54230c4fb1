import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import { runConformance } from '../../../src/conformance/run-conformance.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { checkStore } from '../../../src/store/maintenance/check.ts';
import { backUpUnderLoad } from '../../store/json/backup-load.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { adminToken, startService } from '../../support/service.ts';

/** Several stores, because the time of a comparison grows with the store. */
const [stores, backupsEach] = [10, 20];

async function conform(folder: string): Promise<number> {
  const service = await startService({ store: folder, clock: systemClock });
  const makeRequester = async (certificates: readonly string[] | undefined) =>
    makeUndiciRequester(certificates);
  const results: Record<string, string[]> = { pass: [], fail: [], skip: [] };
  const rows = runConformance({ url: service.url, token: adminToken, makeRequester });
  for await (const { id, result } of rows) results[result]?.push(id);
  await service.close();
  expect(results.fail).toEqual([]);
  return results.pass?.length ?? 0;
}

it('200 backups under load are complete, and restore to a conforming service', async () => {
  const report = { backups: 0, conform: [] as number[] };
  for (let store = 0; store < stores; store++) {
    const onCopy = async (folder: string, round: number) => {
      expect(await checkStore(folder)).toEqual([]);
      report.backups++;
      // Some backups also run the conformance checks.
      if (store % 2 === 0 && round === backupsEach - 1) report.conform.push(await conform(folder));
      await rm(folder, { recursive: true });
    };
    await backUpUnderLoad({
      clock: new ManualClock(Date.now() - 60 * 60_000),
      rounds: backupsEach,
      perRound: 8,
      onCopy,
    });
  }
  console.log(JSON.stringify(report));
  expect(report.backups).toBe(200);
  for (const passed of report.conform) expect(passed).toBeGreaterThan(250);
});
