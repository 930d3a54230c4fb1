import { makePageGuard } from '../../client/page-guard.ts';
import { largestPage } from '../api/client.ts';
import { usage } from '../options/settings.ts';

export interface RawPage {
  items: readonly unknown[];
  nextCursor: string | null;
}

/** Returns a response as a page of a list, `{ items, nextCursor? }`, if it has that form. */
export function asPage(answer: unknown): RawPage | undefined {
  const { items, nextCursor } = (answer ?? {}) as { items?: unknown; nextCursor?: unknown };
  return Array.isArray(items)
    ? { items, nextCursor: typeof nextCursor === 'string' ? nextCursor : null }
    : undefined;
}

/** Sets parameters in the query of a path. */
function withQuery(path: string, changes: Readonly<Record<string, string>>): string {
  const at = path.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : path.slice(at + 1));
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return `${at < 0 ? path : path.slice(0, at)}?${query}`;
}

/**
 * Yields the pages of the list at a path, from the `cursor` in the path or from the first page.
 * `get` requests one page and parses its JSON.
 */
export async function* listedPages(
  path: string,
  get: (path: string) => Promise<unknown>,
): AsyncGenerator<RawPage> {
  const first = /[?&]limit=/.test(path) ? path : withQuery(path, { limit: String(largestPage) });
  const checkPage = makePageGuard(
    'this list',
    new URLSearchParams(path.split('?')[1]).get('cursor') ?? undefined,
  );
  let cursor: string | null = null;
  do {
    const page = asPage(await get(cursor === null ? first : withQuery(first, { cursor })));
    if (!page) throw usage('--paginate needs a list, and the response is not a list.');
    yield page;
    checkPage(page);
    cursor = page.nextCursor;
  } while (cursor !== null);
}
