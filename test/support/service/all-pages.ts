/** Returns all pages of a list. Each is fetched with the cursor of the page before. */
export async function allPages<P extends { next: string | null }>(
  fetch: (more: { after?: string }) => Promise<P>,
): Promise<P[]> {
  const pages: P[] = [];
  for (let more: { after?: string } = {}; ; ) {
    const page = await fetch(more);
    pages.push(page);
    if (page.next === null) return pages;
    more = { after: page.next };
  }
}
