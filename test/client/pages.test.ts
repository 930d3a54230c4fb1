import { describe, expect, it } from 'vitest';
import { followPages } from '../../src/client/pages.ts';

const page = (nextCursor: string | null, items: unknown[] = []) => ({ items, nextCursor });
const endless = expect.objectContaining({ code: 'unexpected_answer' });

/** Follows these pages. Returns the cursors that were requested. */
async function follow(pages: Iterable<ReturnType<typeof page>>, start?: string) {
  const served = [...pages].values();
  const cursors: (string | undefined)[] = [];
  const read = async (cursor: string | undefined) => {
    cursors.push(cursor);
    return served.next().value ?? page(null);
  };
  for await (const _ of followPages('listScreens', read, start));
  return cursors;
}

const emptyPages = (count: number) => Array.from({ length: count }, (_, n) => page(`c${n}`));

describe('the pages of a list', () => {
  it('are requested in order, from the start', async () => {
    expect(await follow([page('a', [1]), page('b'), page(null)])).toEqual([undefined, 'a', 'b']);
    expect(await follow([page('a', [1]), page(null)], 'start')).toEqual(['start', 'a']);
  });

  it('may be many, with empty ones in between', async () => {
    const pages = Array.from({ length: 30_000 }, (_, n) => page(`c${n}`, n % 9_000 ? [] : [n]));
    expect(await follow(pages, 'start')).toHaveLength(30_001);
  });

  it('are rejected after 10,000 empty ones in a row with different cursors', async () => {
    await expect(follow([page('start', [1]), ...emptyPages(10_000)])).rejects.toEqual(endless);
  });

  it('may end with an empty page after 9,999 empty ones', async () => {
    expect(await follow([...emptyPages(9_999), page(null)])).toHaveLength(10_000);
  });

  it('are rejected when a cursor repeats: at once, in a cycle, or the initial one', async () => {
    for (const cursors of [['a', 'a'], ['a', 'b', 'c', 'a'], ['start']]) {
      const pages = cursors.map((cursor) => page(cursor, [1]));
      await expect(follow(pages, 'start')).rejects.toEqual(endless);
      expect(await follow(pages.slice(0, -1), 'start')).toHaveLength(cursors.length);
    }
  });

  it('are rejected when a cursor is too long for a request', async () => {
    await expect(follow([page('x'.repeat(4097), [1])])).rejects.toEqual(endless);
  });
});
