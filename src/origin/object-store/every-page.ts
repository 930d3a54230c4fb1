/** A page of S3 has up to 1,000 keys. A list with more pages than this does not end. */
const maxPages = 10_000;

/**
 * Reads all pages of a list, from `null` on. Throws the error that `endless` makes if the list
 * never comes to an end: if a page comes again, or after 10,000 pages.
 */
export async function* everyPage<P extends { next: string | null }>(
  read: (after: string | null) => Promise<P>,
  endless: () => Error,
): AsyncGenerator<P> {
  const seen = new Set<string>();
  for (let after: string | null = null; ; ) {
    const page: P = await read(after);
    after = page.next;
    if (after !== null && (seen.has(after) || seen.size === maxPages)) throw endless();
    yield page;
    if (after === null) return;
    seen.add(after);
  }
}
