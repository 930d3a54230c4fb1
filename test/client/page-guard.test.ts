import { describe, expect, it } from 'vitest';
import { makePageGuard } from '../../src/client/page-guard.ts';

const page = (nextCursor: string | null, items: unknown[] = []) => ({ items, nextCursor });
const endless = expect.objectContaining({ code: 'unexpected_answer' });

describe('the pages of a list', () => {
  it('may be many, with empty ones in between', () => {
    const check = makePageGuard('listScreens', 'start');
    for (let n = 0; n < 30_000; n++) check(page(`c${n}`, n % 9_000 === 0 ? [n] : []));
    check(page(null));
  });

  it('are rejected after 10,000 empty ones in a row with different cursors', () => {
    const check = makePageGuard('listScreens');
    check(page('start', [1]));
    for (let n = 1; n < 10_000; n++) check(page(`c${n}`));
    expect(() => check(page('c10000'))).toThrow(endless);
  });

  it('may end with an empty page after 9,999 empty ones', () => {
    const check = makePageGuard('listScreens');
    for (let n = 1; n < 10_000; n++) check(page(`c${n}`));
    check(page(null));
  });

  it('are rejected when a cursor repeats: at once, in a cycle, or the initial one', () => {
    for (const cursors of [['a', 'a'], ['a', 'b', 'c', 'a'], ['start']]) {
      const check = makePageGuard('listScreens', 'start');
      for (const cursor of cursors.slice(0, -1)) check(page(cursor, [1]));
      expect(() => check(page(cursors.at(-1) ?? '', [1]))).toThrow(endless);
    }
  });

  it('are rejected when a cursor is too long for a request', () => {
    expect(() => makePageGuard('listScreens')(page('x'.repeat(4097), [1]))).toThrow(endless);
  });
});
