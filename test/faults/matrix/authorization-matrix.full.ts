// Every operation, kind of caller and record, in both stores, and every body with extra members.
import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { type Assembled, assembled } from '../../support/process/assembled.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { runAssignments } from './run-assignments.ts';
import { runMatrix } from './run-matrix.ts';

it.each<[name: string, locate: () => Promise<string>]>([
  ['embedded', async () => 'memory:'],
  ['PostgreSQL', freshDatabase],
])('%s', async (name, locate) => {
  async function run<R extends { cells: number; wrong: string[] }>(
    what: string,
    work: (service: Assembled) => Promise<R>,
  ) {
    const clock = new ManualClock();
    const store = await openStore(await locate(), { clock });
    const startedAt = performance.now();
    const { wrong, ...figures } = await work(await assembled(store, clock));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(
      `${what}, ${name} store: ${JSON.stringify(figures)}, ${wrong.length} wrong (${seconds} s)`,
    );
    await store.close();
    expect(wrong).toEqual([]);
    return figures.cells;
  }
  const cells = await run('authorisation', (service) => runMatrix(service));
  expect(cells).toBeGreaterThan(15_000);
  await run("bodies with members that are not the caller's", (service) => runAssignments(service));
});
