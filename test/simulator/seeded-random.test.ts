import { expect, it } from 'vitest';
import { SeededRandom } from '../../src/simulator/seeded-random.ts';

const first = (seed: string, count = 100) => {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => random.fraction());
};

it('repeats for the same seed, and differs for another', () => {
  expect(first('7/tv 1')).toEqual(first('7/tv 1'));
  expect(first('7/tv 1')).not.toEqual(first('7/tv 2'));
});

it('is uniform: a tenth of the fractions in each tenth', () => {
  const tenths = Array<number>(10).fill(0);
  for (const fraction of first('even', 20_000)) tenths[Math.floor(fraction * 10)]!++;
  for (const count of tenths) expect(Math.abs(count - 2000)).toBeLessThan(200);
});

it('returns the requested number of bytes', () => {
  const random = new SeededRandom('bytes');
  expect([1, 2, 4, 16, 33].map((length) => random.bytes(length).length)).toEqual([1, 2, 4, 16, 33]);
  expect(new SeededRandom('bytes').bytes(16)).toEqual(new SeededRandom('bytes').bytes(16));
  expect(new Set(new SeededRandom('many').bytes(4000)).size).toBe(256);
});

it('always returns true for probability 1, and false for 0', () => {
  const random = new SeededRandom('sure');
  expect(Array.from({ length: 100 }, () => random.happens(1)).every(Boolean)).toBe(true);
  expect(Array.from({ length: 100 }, () => random.happens(0)).some(Boolean)).toBe(false);
  const between = Array.from({ length: 100 }, () => random.between(5, 6));
  expect(between.every((one) => one >= 5 && one < 6)).toBe(true);
});
