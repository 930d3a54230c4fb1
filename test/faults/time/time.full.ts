import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { runTimeScenario } from './scenario.ts';

it('400 lives with clock jumps', async () => {
  for (let life = 0; life < 400; life++)
    expect(
      await runTimeScenario(`full ${life}`, 40, { store: await temporaryFolder() }),
      `life ${life}`,
    ).toEqual([]);
  console.log('400 lives of 40 steps, clocks that jump by seconds to years: every promise kept');
});
