import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { killSealers } from './scenario.ts';

// `npm run faults` runs the full suite.
it.each([
  ['on files', async () => join(await temporaryFolder(), 'data'), 1],
  ['on PostgreSQL, by two instances', freshDatabase, 2],
])(
  'one head a number, the same bytes, when the sealing is killed %s',
  {
    timeout: 120_000,
  },
  async (_, place, atOnce) => {
    const { wrong, moved } = await killSealers(await place(), { kills: 8, atOnce });
    expect(wrong).toEqual([]);
    expect(moved).toBeGreaterThan(1);
  },
);
