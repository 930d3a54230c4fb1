import { afterEach, expect, it } from 'vitest';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { endProcesses } from '../../support/process/signage-process.ts';
import { startOnDatabase, startOnFolder } from './first-starts.ts';

afterEach(endProcesses);

it('accepts the admin token as soon as it accepts connections, at 2 first starts', async () => {
  for (let start = 0; start < 2; start++) expect(await startOnFolder()).toEqual([]);
});

it('accepts the admin token at the first start of two instances on one database', async () => {
  expect(await startOnDatabase(await freshDatabase())).toEqual([]);
});
