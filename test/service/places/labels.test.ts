import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../src/domain/error.ts';
import { labelFilter, patchLabels } from '../../../src/service/places/labels.ts';

const label = fc.tuple(
  fc.string({ minLength: 1 }).filter((key) => !key.includes(':') && key !== '__proto__'),
  fc.string(),
);
const labels = fc
  .array(label, { maxLength: 20 })
  .map((entries): Record<string, string> => Object.fromEntries(entries));

/** Reference implementation of RFC 7396 §2, for a flat object. */
function mergePatch(
  target: Record<string, string>,
  patch: Record<string, string | null>,
): Record<string, string> {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}

describe('patchLabels', () => {
  it('merges labels as RFC 7396 defines', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'constructor', 'long key');
    const labelsOf = (value: fc.Arbitrary<string | null>) =>
      fc.dictionary(key, value, { noNullPrototype: true });
    fc.assert(
      fc.property(labelsOf(fc.string()), labelsOf(fc.option(fc.string())), (before, change) => {
        expect(patchLabels(before as Record<string, string>, change)).toEqual(
          mergePatch(before as Record<string, string>, change),
        );
      }),
    );
  });

  it('changes nothing without a patch, and removes all labels for null', () => {
    const before = { a: '1' };
    expect(patchLabels(before, undefined)).toBe(before);
    expect(patchLabels(before, null)).toEqual({});
    expect(before).toEqual({ a: '1' });
  });

  it('rejects too many labels, counted after the patch', () => {
    const most = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 'v']));
    expect(Object.keys(patchLabels(most, { k0: 'other', k1: null, k64: 'v' }))).toHaveLength(64);
    const tooMany = () => patchLabels(most, { k64: 'v' });
    expect(tooMany).toThrow(
      expect.objectContaining({
        errors: [{ path: '/labels', message: 'must have at most 64 labels' }],
      }),
    );
    try {
      tooMany();
    } catch (error) {
      expect(hasCode(error, 'invalid_request')).toBe(true);
    }
  });
});

describe('labelFilter', () => {
  it('returns no filter for no label parameters', () =>
    expect(labelFilter(undefined)).toEqual({ impossible: false }));

  it('parses any labels', () => {
    fc.assert(
      fc.property(labels, (map) => {
        const filters = Object.entries(map).map(([key, value]) => `${key}:${value}`);
        expect(labelFilter([...filters, ...filters])).toEqual({ labels: map, impossible: false });
      }),
    );
  });

  it('detects filters that nothing can match', () => {
    expect(labelFilter(['a:1', 'b:1', 'a:2']).impossible).toBe(true);
    expect(labelFilter(['a:1', 'a:']).impossible).toBe(true);
  });

  it('accepts any key, including names of inherited object members', () => {
    const { labels: wanted, impossible } = labelFilter([
      '__proto__:x',
      'constructor:y',
      'toString:z',
    ]);
    expect(impossible).toBe(false);
    expect(Object.entries(wanted!)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['toString', 'z'],
    ]);
  });
});
