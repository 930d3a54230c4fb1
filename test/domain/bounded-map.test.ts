import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../src/domain/bounded-map.ts';

const keys = Array.from({ length: 8 }, (_, n) => ({ n }));
const [a, b, c, d, e] = keys as [object, object, object, object, object];

describe('what is known of objects that were asked for of late', () => {
  it('is kept of as many as it was told, and replaced when it is said anew', () => {
    const recent = new BoundedMap<object, string>(2);
    recent.set(a, 'one');
    recent.set(b, 'two');
    recent.set(a, 'three');
    expect([recent.get(a), recent.get(b), recent.get(c)]).toEqual(['three', 'two', undefined]);
  });

  it('goes when more have come since than twice that', () => {
    const recent = new BoundedMap<object, number>(2);
    for (const [n, key] of [a, b, c, d, e].entries()) recent.set(key, n);
    expect([a, b, c, d, e].map((key) => recent.get(key))).toEqual([undefined, undefined, 2, 3, 4]);
  });

  it('stays while it is asked for again and again', () => {
    const recent = new BoundedMap<object, string>(2);
    recent.set(a, 'often');
    for (const key of keys.slice(1)) {
      recent.set(key, 'once');
      expect(recent.get(a)).toBe('often');
    }
    expect(recent.get(b)).toBeUndefined();
  });

  it('never has the older of two values', () => {
    const recent = new BoundedMap<object, string>(1);
    recent.set(a, 'old');
    recent.set(b, 'other');
    recent.set(a, 'new');
    recent.set(b, 'other');
    expect(recent.get(a)).toBe('new');
  });
});
