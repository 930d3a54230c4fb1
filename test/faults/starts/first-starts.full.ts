import { afterEach, expect, it } from 'vitest';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { endProcesses } from '../../support/process/signage-process.ts';
import { packProgram } from '../kills/packed-program.ts';
import { startOnDatabase, startOnFolder } from './first-starts.ts';

const [folders, databases] = [1000, 200];

afterEach(endProcesses);

async function failures(starts: number, start: () => Promise<string[]>): Promise<string[][]> {
  const failed: string[][] = [];
  for (let count = 0; count < starts; count++) {
    const wrong = await start();
    if (wrong.length > 0) failed.push(wrong);
  }
  return failed;
}

it('accepts the admin token as soon as it accepts connections, at 1,000 first starts', async () => {
  const run = await packProgram();
  const failed = await failures(folders, () => startOnFolder(run));
  console.log(`first starts: ${folders}, with a wrong answer: ${failed.length}`);
  expect(failed).toEqual([]);
});

it('accepts the admin token at 200 first starts of two instances on one database', async () => {
  const failed = await failures(databases, async () => startOnDatabase(await freshDatabase()));
  console.log(`first starts of two instances: ${databases}, with a wrong answer: ${failed.length}`);
  expect(failed).toEqual([]);
});
