import { SignageError } from '../domain/error.ts';

/**
 * A filter may leave many pages empty. 10,000 pages of 200 are 2 million records without a match.
 */
const maxEmptyPages = 10_000;

/** In characters. A longer cursor exceeds the request line limit of the service. */
const maxCursorLength = 4096;

/**
 * Returns a function that checks each page of one list. It throws `unexpected_answer` if the list
 * does not seem to end. The signs are a repeated cursor, a very long cursor, and too many empty
 * pages in a row. `cursor` is the start of the list.
 *
 * @param list the name of the list in the error
 */
export function makePageGuard(list: string, cursor?: string) {
  const followed = new Set<string>(cursor === undefined ? [] : [cursor]);
  let emptyPages = 0;
  const endless = (reason: string) =>
    new SignageError('unexpected_answer', `The pages of ${list} do not end: ${reason}.`);

  return ({
    items,
    nextCursor,
  }: {
    items: readonly unknown[];
    nextCursor: string | null;
  }): void => {
    emptyPages = items.length === 0 ? emptyPages + 1 : 0;
    if (nextCursor === null) return;
    if (nextCursor.length > maxCursorLength)
      throw endless(`a cursor has more than ${maxCursorLength} characters`);
    if (followed.has(nextCursor)) throw endless('a cursor was repeated');
    if (emptyPages >= maxEmptyPages) throw endless(`${maxEmptyPages} in a row were empty`);
    followed.add(nextCursor);
  };
}
