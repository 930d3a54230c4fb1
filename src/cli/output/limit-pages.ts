/** The pages up to a number of items; all of them when there is no limit. Ends without asking for a page that is not needed. */
export async function* limitPages<T>(
  pages: AsyncIterable<readonly T[]>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly T[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}
