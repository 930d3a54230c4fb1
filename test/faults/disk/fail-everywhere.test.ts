import { describe, expect, it } from 'vitest';
import { failEverywhere } from './fail-everywhere.ts';

describe('a disk with one failing operation', () => {
  // `npm run faults` fails each operation.
  it('loses no acknowledged data, and the store works again when the disk does', {
    timeout: 300_000,
  }, async () => {
    const { bad, lives, operations } = await failEverywhere({ every: 67, first: 5 });
    expect(bad).toEqual([]);
    expect(lives).toBeGreaterThan(15);
    expect(operations).toBeGreaterThan(700);
  });
});
