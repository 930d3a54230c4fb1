import { describe, expect, it } from 'vitest';
import { makePageGuard } from '../../src/client/page-guard.ts';

const page = (nextCursor: string | null, items: unknown[] = []) => ({ items, nextCursor });
const endless = expect.objectContaining({ code: 'unexpected_answer' });

describe('the pages of a list', () => {
  it('may be many, and empty in between', () => {
    const check = makePageGuard('listScreens', 'start');
    for (let n = 0; n < 30_000; n++) check(page(`c${n}`, n % 9_000 === 0 ? [n] : []));
    check(page(null));
  });

  it('do not end when 10,000 in a row are empty, each with another cursor', () => {
    const check = makePageGuard('listScreens');
    check(page('start', [1]));
    for (let n = 1; n < 10_000; n++) check(page(`c${n}`));
    expect(() => check(page('c10000'))).toThrow(endless);
  });

  it('end with an empty page, also after 9,999 others', () => {
    const check = makePageGuard('listScreens');
    for (let n = 1; n < 10_000; n++) check(page(`c${n}`));
    check(page(null));
  });

  it('do not end when a cursor comes again: at once, in a circle, or the one that the list began with', () => {
    for (const cursors of [['a', 'a'], ['a', 'b', 'c', 'a'], ['start']]) {
      const check = makePageGuard('listScreens', 'start');
      for (const cursor of cursors.slice(0, -1)) check(page(cursor, [1]));
      expect(() => check(page(cursors.at(-1) ?? '', [1]))).toThrow(endless);
    }
  });

  it('do not end with a cursor that no request can carry', () => {
    expect(() => makePageGuard('listScreens')(page('x'.repeat(4097), [1]))).toThrow(endless);
  });
});
