import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { runTimeScenario } from './scenario.ts';
import { oneOnFiles, type Topology, twoOnDatabase } from './topology.ts';

const lives = Number(process.env.LIVES ?? 400);
const steps = 40;

it.each<[string, () => Promise<() => Promise<Topology>>]>([
  ['one instance on files', async () => async () => oneOnFiles(await temporaryFolder())],
  [
    'two instances on PostgreSQL',
    async () => {
      const store = await freshDatabase();
      return () => twoOnDatabase(store);
    },
  ],
])(`${lives} lives with clock jumps: %s`, async (what, prepare) => {
  const begin = await prepare();
  for (let life = 0; life < lives; life++)
    expect(await runTimeScenario(`full ${life}`, steps, await begin()), `life ${life}`).toEqual([]);
  console.log(
    `${lives} lives of ${steps} steps of ${what}, clocks that jump by seconds to years: every promise kept`,
  );
});
