/** Records per page. */
const pageRecords = 500;

/** Groups items into pages. */
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
