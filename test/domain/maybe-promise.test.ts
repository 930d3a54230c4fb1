import { describe, expect, it } from 'vitest';
import { andThen, orElse } from '../../src/domain/maybe-promise.ts';

const fail = (): never => {
  throw new Error('planted');
};

describe('andThen', () => {
  it('goes on at once with what is there, and later with what comes later', async () => {
    expect(andThen(1, (n) => n + 1)).toBe(2);
    expect(await andThen(Promise.resolve(1), (n) => n + 1)).toBe(2);
    expect(await andThen(1, async (n) => n + 1)).toBe(2);
  });

  it('throws at once, or rejects, what the next step throws', async () => {
    expect(() => andThen(1, fail)).toThrow('planted');
    await expect(andThen(Promise.resolve(1), fail)).rejects.toThrow('planted');
  });
});

describe('orElse', () => {
  it('is the value of the call', async () => {
    expect(orElse(() => 1, fail)).toBe(1);
    expect(await orElse(async () => 1, fail)).toBe(1);
  });

  it('is what takes its place when the call fails, now or later', async () => {
    expect(orElse(fail, () => 2)).toBe(2);
    expect(
      await orElse(
        () => Promise.reject(new Error('planted')),
        () => 2,
      ),
    ).toBe(2);
    expect(() => orElse(fail, fail)).toThrow('planted');
  });
});
