// Every operation, kind of caller and record, in both stores, and every body with extra members.
import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { type Assembled, assembled } from '../../support/assembled.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { runAssignments } from './run-assignments.ts';
import { runMatrix } from './run-matrix.ts';

const stores: [name: string, locate: () => Promise<string>][] = [
  ['embedded', async () => 'memory:'],
  ['PostgreSQL', freshDatabase],
];

it.each(stores)('%s', async (name, locate) => {
  const wrong: string[] = [];
  for (const run of [matrix, assignments]) {
    const clock = new ManualClock();
    const store = await openStore(await locate(), { clock });
    const startedAt = performance.now();
    const done = await run(await assembled(store, clock), name === 'embedded');
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(`${done.told}, ${name} store: ${done.wrong.length} wrong (${seconds} s)`);
    wrong.push(...done.wrong);
    await store.close();
  }
  expect(wrong).toEqual([]);
});

interface Done {
  told: string;
  wrong: string[];
}

async function matrix(service: Assembled, backups: boolean): Promise<Done> {
  const { cells, opened, callers, wrong } = await runMatrix(service, { backups });
  expect(cells).toBeGreaterThan(15_000);
  return {
    told: `authorisation: ${cells} cells of ${callers} callers, ${opened} of which let in`,
    wrong,
  };
}

async function assignments(service: Assembled): Promise<Done> {
  const { cells, wrong } = await runAssignments(service);
  return { told: `bodies with members that are not the caller's: ${cells}`, wrong };
}
