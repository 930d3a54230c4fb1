// Clock jumps of seconds to years: finished things stay finished, live ones stay alive, nothing is
// lost, and all instances agree.
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { runTimeScenario } from './scenario.ts';
import { oneOnFiles, twoOnDatabase } from './topology.ts';

const lives = (count: number) => Array.from({ length: count }, (_, n) => `life ${n}`);

describe('a service whose clock jumps', () => {
  it.each(lives(4))('keeps its promises: %s', async (seed) => {
    const topology = await oneOnFiles(await temporaryFolder());
    expect(await runTimeScenario(seed, 25, topology)).toEqual([]);
  });
});

describe('two instances on PostgreSQL, one on a machine whose clock jumps', () => {
  it('keep the same promises, and agree in each answer', async () => {
    const store = await freshDatabase();
    for (const seed of lives(2))
      expect(await runTimeScenario(seed, 10, await twoOnDatabase(store)), seed).toEqual([]);
  });
});
