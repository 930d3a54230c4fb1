import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { killSealers } from './scenario.ts';

it.each([
  ['on files', async () => join(await temporaryFolder(), 'data'), 1],
  ['on PostgreSQL, by two instances', freshDatabase, 2],
])(
  'one head a number, the same bytes, when the sealing is killed 200 times %s',
  async (_, place, atOnce) => {
    const { wrong, ...report } = await killSealers(await place(), { kills: 200, atOnce });
    console.log(`statements ${_}: ${JSON.stringify(report)}`);
    expect(wrong).toEqual([]);
    expect(report.moved).toBeGreaterThan(100);
  },
);
