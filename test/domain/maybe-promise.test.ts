import { describe, expect, it } from 'vitest';
import { andThen, orElse } from '../../src/domain/maybe-promise.ts';

const fail = (): never => {
  throw new Error('planted');
};

describe('andThen', () => {
  it('continues synchronously with a value, and asynchronously with a promise', async () => {
    expect(andThen(1, (n) => n + 1)).toBe(2);
    expect(await andThen(Promise.resolve(1), (n) => n + 1)).toBe(2);
    expect(await andThen(1, async (n) => n + 1)).toBe(2);
  });

  it('throws or rejects with the error of the next step', async () => {
    expect(() => andThen(1, fail)).toThrow('planted');
    await expect(andThen(Promise.resolve(1), fail)).rejects.toThrow('planted');
  });
});

describe('orElse', () => {
  it('returns the result of the call', async () => {
    expect(orElse(() => 1, fail)).toBe(1);
    expect(await orElse(async () => 1, fail)).toBe(1);
  });

  it('returns the replacement when the call throws or rejects', async () => {
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
