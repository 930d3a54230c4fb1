/** Some records at a time. */
const pageRecords = 500;

/** What comes one by one, in pages. */
export async function* paged<T>(
  items: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<readonly T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < pageRecords) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
