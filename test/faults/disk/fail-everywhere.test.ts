import { describe, expect, it } from 'vitest';
import { failEverywhere } from './fail-everywhere.ts';

describe('a disk that fails in one operation of a life', () => {
  // The full form, each of them, is `npm run faults`.
  it('makes the store acknowledge nothing that is not kept, nor lose what is; it reads on, and goes on once the disk is well', {
    timeout: 300_000,
  }, async () => {
    const { bad, lives, operations } = await failEverywhere({ every: 67, first: 5 });
    expect(bad).toEqual([]);
    expect(lives).toBeGreaterThan(15);
    expect(operations).toBeGreaterThan(700);
  });
});
