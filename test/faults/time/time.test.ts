// Clock jumps of seconds to years: finished things stay finished, live ones stay alive, and nothing
// is lost.
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { runTimeScenario } from './scenario.ts';

describe('a service whose clock jumps', () => {
  it.each(Array.from({ length: 4 }, (_, n) => `life ${n}`))(
    'keeps its promises: %s',
    async (seed) => {
      expect(await runTimeScenario(seed, 25, { store: await temporaryFolder() })).toEqual([]);
    },
  );
});
