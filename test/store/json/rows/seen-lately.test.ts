import { describe, expect, it } from 'vitest';
import { SeenLately } from '../../../../src/store/json/rows/seen-lately.ts';
import { guid } from '../../sample-batch.ts';

const ids = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => guid('scre', from + n));

describe('ids that were seen lately', () => {
  it('are those that were asked for before', () => {
    const seen = new SeenLately();
    expect([seen.again('a'), seen.again('b'), seen.again('a'), seen.again('b')]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('are told from those that were not, and nearly all of a few thousand are known', () => {
    const seen = new SeenLately();
    expect(ids(3000).filter((id) => seen.again(id))).toEqual([]);
    expect(ids(3000).filter((id) => seen.again(id)).length).toBeGreaterThan(2500);
  });

  it('are forgotten when very many others were asked for', () => {
    const seen = new SeenLately();
    for (const id of ids(1000)) seen.again(id);
    for (const id of ids(300_000, 1000)) seen.again(id);
    expect(ids(1000).filter((id) => seen.again(id)).length).toBeLessThan(100);
  });
});
