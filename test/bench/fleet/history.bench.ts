import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { dayMs } from '../../../src/domain/clock.ts';
import { dayOf, reportClocks, reportGroups } from '../../../src/domain/records/report.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { summary, timed } from '../measure.ts';
import { type Served, startServed } from '../served.ts';
import { fillWithFleet } from './fleet.ts';

const token = `mak_${'MillionsOf'.repeat(4)}`;
const screens = 10_000;
/** Each item of a loop of ten is played ten times a day. */
const history = { days: 10, eventsPerBatch: 100 };
const events = screens * history.days * history.eventsPerBatch;
const starts = 5;
const repeats = 5;
const lineFeed = 0x0a;
const rowsPerLook = 500_000;

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

/** The events name no entries. */
const groups = [
  ...reportGroups.filter((group) => group !== 'entry'),
  ...(['campaign,day', 'screen,day', 'screen,creative'] as const),
];

async function measureReports(management: ManagementClient): Promise<void> {
  for (const by of reportClocks) {
    for (const groupBy of groups) {
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

/** Reads a list of all plays to its end. */
async function measureList(management: ManagementClient, { usage }: Served): Promise<void> {
  const before = (await usage()).residentMB;
  const startMs = performance.now();
  let firstMs = 0;
  let rows = 0;
  let highest = before;
  for await (const chunk of await management.plays({ query: {} })) {
    firstMs ||= performance.now() - startMs;
    const rowsBefore = rows;
    for (const byte of chunk) if (byte === lineFeed) rows++;
    if (Math.floor(rows / rowsPerLook) > Math.floor(rowsBefore / rowsPerLook))
      highest = Math.max(highest, (await usage()).residentMB);
  }
  expect(rows).toBe(events);
  const seconds = (performance.now() - startMs) / 1000;
  console.log(
    `list of ${rows} plays: first ${firstMs.toFixed(0)} ms (bar: 2000), all ${seconds.toFixed(0)} s, ${(highest - before).toFixed(0)} MB (bar: 60)`,
  );
}

/** Compares planned and played of the last whole day, whose events are a tenth of all. */
async function measureCoverage(management: ManagementClient): Promise<void> {
  const from = dayOf(Date.now() - dayMs);
  const { ms, result } = await timed(() =>
    management.call('reportCoverage', { query: { groupBy: 'venue', from } }),
  );
  console.log(
    `coverage of a day by venue: ${result.items.length} rows, ${(ms / 1000).toFixed(1)} s`,
  );
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
  await measureList(management, served);
  await measureCoverage(management);
  await served.stop();
});
