import { describe, expect, it } from 'vitest';
import { damageEverywhere } from './damage-everywhere.ts';

// `npm run faults` damages every byte.
describe('each file of a store with flipped bits, truncated, or missing', () => {
  it('after a clean stop: the damage is reported or harmless', { timeout: 300_000 }, async () => {
    const { bad, earlier, ...report } = await damageEverywhere({ clean: true, everyBytes: 113 });
    expect([bad, earlier]).toEqual([[], 0]);
    expect(report.files).toBeGreaterThan(15);
    expect(report.refused).toBeGreaterThan(300);
  });

  it('after a crash: the damage is reported, harmless, or equal to an earlier crash', {
    timeout: 300_000,
  }, async () => {
    const { bad, earlier, damages } = await damageEverywhere({ clean: false, everyBytes: 113 });
    expect(bad).toEqual([]);
    expect(earlier).toBeLessThan(damages / 5);
  });
});
