import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { reportClocks, reportGroups } from '../../../src/domain/records/report.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { summary, timed } from '../measure.ts';
import { startServed } from '../served.ts';
import { fillWithFleet } from './fleet.ts';

const token = `mak_${'MillionsOf'.repeat(4)}`;
const screens = 100_000;
const history = { days: 10, eventsPerBatch: 10 };
const events = screens * history.days * history.eventsPerBatch;
const starts = 5;
const repeats = 5;

async function measureStarts(data: string): Promise<void> {
  const processMs: number[] = [];
  const serveMs: number[] = [];
  for (let n = 0; n < starts; n++) {
    const { ms, result } = await timed(() => startServed(data, token));
    processMs.push(ms);
    serveMs.push(result.startMs);
    await result.stop();
  }
  console.log(
    `start with ${screens} screens and ${events} events: process ${summary(processMs)} ms (bar: 3000), of which serve ${summary(serveMs)} ms`,
  );
}

async function measureReports(management: ManagementClient): Promise<void> {
  for (const by of reportClocks) {
    for (const groupBy of reportGroups) {
      const took: number[] = [];
      let rows = 0;
      for (let n = 0; n < repeats; n++) {
        const { ms, result } = await timed(() =>
          management.call('reportImpressions', { query: { groupBy, by } }),
        );
        took.push(ms);
        rows = result.items.length;
        expect(result.items.reduce((sum, row) => sum + row.impressions, 0)).toBe(events);
      }
      console.log(`report by ${groupBy}, by=${by}: ${rows} rows, ${summary(took)} ms (bar: 1000)`);
    }
  }
}

it('start and reports with 10 million events', async () => {
  const data = await temporaryFolder();
  const { ms } = await timed(() => fillWithFleet(data, screens, history));
  console.log(`writing the folder took ${(ms / 1000).toFixed(0)} s`);
  await measureStarts(data);
  const served = await startServed(data, token);
  const management = new ManagementClient({ url: served.url, token });
  await sleep(1000);
  await measureReports(management);
  await served.stop();
});
