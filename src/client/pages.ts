import { SignageError } from '../domain/error.ts';

/**
 * A filter may leave many pages empty: 10,000 pages of 200 are 2 million records without a match.
 */
const maxEmptyPages = 10_000;

/**
 * Maximum length of a cursor in characters. The service limits the request line and all headers
 * together to 8 KiB.
 */
const maxCursorLength = 4096;

interface ListPage<T> {
  items: T[];
  nextCursor: string | null;
}

/**
 * Yields the items of each page of a list, from the page at the cursor `start` or from the first
 * page. `read` requests one page. Throws `unexpected_answer` if the list does not seem to end: a
 * cursor repeats or is very long, or too many empty pages follow each other.
 *
 * @param list the name of the list in the error
 */
export async function* followPages<T>(
  list: string,
  read: (cursor: string | undefined) => Promise<ListPage<T>>,
  start?: string,
): AsyncGenerator<T[]> {
  const followed = new Set<string>(start === undefined ? [] : [start]);
  const endless = (reason: string) =>
    new SignageError('unexpected_answer', `The pages of ${list} do not end: ${reason}.`);
  let emptyPages = 0;
  let cursor = start;
  for (;;) {
    const { items, nextCursor } = await read(cursor);
    yield items;
    if (nextCursor === null) return;
    emptyPages = items.length === 0 ? emptyPages + 1 : 0;
    if (nextCursor.length > maxCursorLength)
      throw endless(`a cursor has more than ${maxCursorLength} characters`);
    if (followed.has(nextCursor)) throw endless('a cursor was repeated');
    if (emptyPages >= maxEmptyPages) throw endless(`${maxEmptyPages} in a row were empty`);
    followed.add(nextCursor);
    cursor = nextCursor;
  }
}
