import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashIndex } from '../../../../src/store/json/rows/hash-index.ts';

interface Named {
  name: string;
  n: number;
}

const made = (hashedChars = 12) =>
  new HashIndex<Named>((value, key) => value.name === key, hashedChars);

describe('HashIndex', () => {
  it('finds the value put last, and no deleted value', () => {
    const map = made();
    map.set('a', { name: 'a', n: 1 });
    map.set('a', { name: 'a', n: 2 });
    expect([map.get('a')?.n, map.get('b')]).toEqual([2, undefined]);
    map.delete('b');
    map.delete('a');
    expect([map.get('a'), ...map.values()]).toEqual([undefined]);
  });

  it('distinguishes values whose keys have the same hash', () => {
    const map = made();
    // Both have the FNV-1a hash 5e4daa9d.
    const [one, other] = ['costarring', 'liquid'];
    map.set(one, { name: one, n: 1 });
    expect(map.get(other)).toBeUndefined();
    map.set(other, { name: other, n: 2 });
    expect([map.get(one)?.n, map.get(other)?.n]).toEqual([1, 2]);
    map.delete(one);
    expect([map.get(one), map.get(other)?.n]).toEqual([undefined, 2]);
  });

  it('distinguishes values whose keys have equal endings', () => {
    const map = made(3);
    for (const [n, name] of ['one end', 'other end', 'end', 'nd'].entries())
      map.set(name, { name, n });
    expect(['one end', 'other end', 'end', 'nd', 'no end'].map((name) => map.get(name)?.n)).toEqual(
      [0, 1, 2, 3, undefined],
    );
  });

  it('iterates over all values, even while entries are added and deleted', () => {
    const map = made();
    for (const name of ['a', 'b', 'c']) map.set(name, { name, n: 0 });
    const seen: string[] = [];
    for (const { name } of map.values()) {
      seen.push(name);
      if (name === 'a') map.delete('b');
    }
    expect(seen).toEqual(['a', 'c']);
  });

  it('behaves like a Map under random operations', () => {
    const name = fc.oneof(
      fc.nat(400).map((n) => `screen ${n}`),
      fc.string({ maxLength: 2 }),
    );
    const step = fc.record({ name, deletes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1500, size: 'max' }), (steps) => {
        const [map, model] = [made(), new Map<string, Named>()];
        for (const [n, { name, deletes }] of steps.entries()) {
          if (deletes) {
            map.delete(name);
            model.delete(name);
          } else {
            map.set(name, { name, n });
            model.set(name, { name, n });
          }
          expect(map.get(name)).toEqual(model.get(name));
        }
        for (const [known, value] of model) expect(map.get(known)).toEqual(value);
        const order = (values: Iterable<Named>) => [...values].sort((a, b) => a.n - b.n);
        expect(order(map.values())).toEqual(order(model.values()));
      }),
      { numRuns: 60 },
    );
  });
});
