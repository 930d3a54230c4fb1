import { describe, expect, it } from 'vitest';
import { damageEverywhere } from './damage-everywhere.ts';

// The full form, every byte of them, is `npm run faults`.
describe('each file of a store with bits turned over, cut short, and gone', () => {
  it('that was stopped: the damage is told of, or does no harm', { timeout: 300_000 }, async () => {
    const { bad, earlier, ...report } = await damageEverywhere({ clean: true, everyBytes: 113 });
    expect([bad, earlier]).toEqual([[], 0]);
    expect(report.files).toBeGreaterThan(15);
    expect(report.refused).toBeGreaterThan(300);
  });

  it('that has crashed: so it is, but for what an earlier crash could have left', {
    timeout: 300_000,
  }, async () => {
    const { bad, earlier, damages } = await damageEverywhere({ clean: false, everyBytes: 113 });
    expect(bad).toEqual([]);
    expect(earlier).toBeLessThan(damages / 5);
  });
});
