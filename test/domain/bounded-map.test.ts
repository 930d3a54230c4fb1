import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../src/domain/bounded-map.ts';

const keys = Array.from({ length: 8 }, (_, n) => ({ n }));
const [a, b, c, d, e] = keys as [object, object, object, object, object];

describe('BoundedMap', () => {
  it('keeps the given number of entries, and replaces a value that is set again', () => {
    const recent = new BoundedMap<object, string>(2);
    recent.set(a, 'one');
    recent.set(b, 'two');
    recent.set(a, 'three');
    expect([recent.get(a), recent.get(b), recent.get(c)]).toEqual(['three', 'two', undefined]);
  });

  it('evicts an entry after more than twice that number of newer ones', () => {
    const recent = new BoundedMap<object, number>(2);
    for (const [n, key] of [a, b, c, d, e].entries()) recent.set(key, n);
    expect([a, b, c, d, e].map((key) => recent.get(key))).toEqual([undefined, undefined, 2, 3, 4]);
  });

  it('keeps an entry that is read again and again', () => {
    const recent = new BoundedMap<object, string>(2);
    recent.set(a, 'often');
    for (const key of keys.slice(1)) {
      recent.set(key, 'once');
      expect(recent.get(a)).toBe('often');
    }
    expect(recent.get(b)).toBeUndefined();
  });

  it('never returns an overwritten value', () => {
    const recent = new BoundedMap<object, string>(1);
    recent.set(a, 'old');
    recent.set(b, 'other');
    recent.set(a, 'new');
    recent.set(b, 'other');
    expect(recent.get(a)).toBe('new');
  });

  it('forgets a deleted entry, however old', () => {
    const recent = new BoundedMap<string, number>(1);
    for (const [n, key] of ['old', 'new'].entries()) recent.set(key, n);
    for (const key of ['old', 'new']) recent.delete(key);
    expect(['old', 'new'].map((key) => recent.get(key))).toEqual([undefined, undefined]);
  });

  it('admits about one in four of the offered entries', () => {
    const all = Array.from({ length: 8000 }, (_, n) => n);
    const recent = new BoundedMap<number, number>(all.length);
    const admitted = all.filter((n) => recent.offer(n, n));
    expect(admitted.length).toBeGreaterThan(1700);
    expect(admitted.length).toBeLessThan(2300);
    expect(all.filter((n) => recent.get(n) === n)).toEqual(admitted);
  });

  it('limits the total size of entries, and keeps a single larger one', () => {
    const recent = new BoundedMap<string, string>(4, (value) => value.length);
    recent.set('large', 'longer than the limit');
    expect(recent.get('large')).toBe('longer than the limit');
    for (const key of ['1', '2', '3', '4']) recent.set(key, 'ab');
    recent.set('4', 'cd');
    const kept = ['4', '3', 'large'].map((key) => recent.get(key));
    expect(kept).toEqual(['cd', 'ab', undefined]);
  });
});
