import { SignageError } from '../domain/error.ts';

/** A filter may leave many pages empty: with pages of 200, these are 2 million records of which none fits. */
const mostEmptyPages = 10_000;

/** In characters. A longer cursor does not fit into the request line that a service takes. */
const longestCursor = 4096;

/**
 * Looks at the pages of one list as they come, and throws `unexpected_answer` when they do not end: a cursor comes back that was followed already, or page
 * after page is empty. `cursor` is the one that the list begins with.
 *
 * @param list names the list in the error
 */
export function makePageGuard(list: string, cursor?: string) {
  const followed = new Set<string>(cursor === undefined ? [] : [cursor]);
  let empty = 0;
  const endless = (why: string) =>
    new SignageError('unexpected_answer', `The pages of ${list} do not end: ${why}.`);

  return ({
    items,
    nextCursor,
  }: {
    items: readonly unknown[];
    nextCursor: string | null;
  }): void => {
    empty = items.length === 0 ? empty + 1 : 0;
    if (nextCursor === null) return;
    if (nextCursor.length > longestCursor)
      throw endless(`a cursor has more than ${longestCursor} characters`);
    if (followed.has(nextCursor)) throw endless('a cursor came for the second time');
    if (empty >= mostEmptyPages) throw endless(`${mostEmptyPages} in a row were empty`);
    followed.add(nextCursor);
  };
}
