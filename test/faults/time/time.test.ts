// Clock jumps of seconds to years: finished things stay finished, live ones stay alive, and nothing
// is lost.
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTimeScenario } from './scenario.ts';

describe('a service whose clock jumps', () => {
  it.each(Array.from({ length: 8 }, (_, n) => `life ${n}`))(
    'keeps its promises: %s',
    async (seed) => {
      expect(await runTimeScenario(seed, 25, { store: await temporaryFolder() })).toEqual([]);
    },
  );

  it('keeps the lock of its folder at any time of the clock', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    const holder = await openStore(folder, { clock });
    for (const years of [1, -1, 20, -20]) {
      const other = new ManualClock(clock.now() + years * 365 * 86_400_000);
      await expect(openStore(folder, { clock: other })).rejects.toMatchObject({
        code: 'store_locked',
      });
      clock.set(other.now());
      await holder.write(async (tx) =>
        tx.put('tenants', {
          id: `00000000-0000-7000-8000-0000000000${years + 50}`,
          name: `${years}`,
          createdAt: tx.now,
          updatedAt: tx.now,
        }),
      );
    }
    await holder.close();
  });
});
