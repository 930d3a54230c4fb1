import { afterEach, expect, it } from 'vitest';
import { freshDatabase } from '../../support/postgres.ts';
import { endProcesses } from '../../support/signage-process.ts';
import { startOnDatabase, startOnFolder } from './first-starts.ts';

afterEach(endProcesses);

it('takes the admin token as soon as it accepts connections, at 2 first starts', async () => {
  for (let start = 0; start < 2; start++) expect(await startOnFolder()).toEqual([]);
});

it('also when two instances start on one empty database', async () => {
  expect(await startOnDatabase(await freshDatabase())).toEqual([]);
});
