import { describe, expect, it } from 'vitest';
import { RecentIds } from '../../../../src/store/json/rows/recent-ids.ts';
import { guid } from '../../sample-batch.ts';

const ids = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => guid('scre', from + n));

describe('RecentIds', () => {
  it('knows the ids that were added before', () => {
    const recent = new RecentIds();
    expect([
      recent.checkAndAdd('a'),
      recent.checkAndAdd('b'),
      recent.checkAndAdd('a'),
      recent.checkAndAdd('b'),
    ]).toEqual([false, false, true, true]);
  });

  it('does not know other ids, and remembers nearly all of a few thousand', () => {
    const recent = new RecentIds();
    expect(ids(3000).filter((id) => recent.checkAndAdd(id))).toEqual([]);
    expect(ids(3000).filter((id) => recent.checkAndAdd(id)).length).toBeGreaterThan(2500);
  });

  it('evicts ids after very many others', () => {
    const recent = new RecentIds();
    for (const id of ids(1000)) recent.checkAndAdd(id);
    for (const id of ids(300_000, 1000)) recent.checkAndAdd(id);
    expect(ids(1000).filter((id) => recent.checkAndAdd(id)).length).toBeLessThan(100);
  });
});
