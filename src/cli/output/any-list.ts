import { makePageGuard } from '../../client/page-guard.ts';
import { largestPage } from '../api/client.ts';
import { usage } from '../options/settings.ts';

export interface RawPage {
  items: readonly unknown[];
  nextCursor: string | null;
}

/** An answer as a page of a list, if it is one: `{ items, nextCursor? }`. */
export function asPage(answer: unknown): RawPage | undefined {
  const { items, nextCursor } = (answer ?? {}) as { items?: unknown; nextCursor?: unknown };
  return Array.isArray(items)
    ? { items, nextCursor: typeof nextCursor === 'string' ? nextCursor : null }
    : undefined;
}

/** The path with these parameters in its query, in place of those of the same name. */
function withQuery(path: string, changes: Readonly<Record<string, string>>): string {
  const at = path.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : path.slice(at + 1));
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return `${at < 0 ? path : path.slice(0, at)}?${query}`;
}

/** The pages of any list by its path, from the first or from a `cursor` in the path on. `ask` reads one answer as JSON. */
export async function* listedPages(
  path: string,
  ask: (path: string) => Promise<unknown>,
): AsyncGenerator<RawPage> {
  const first = /[?&]limit=/.test(path) ? path : withQuery(path, { limit: String(largestPage) });
  const checkPage = makePageGuard(
    'this list',
    new URLSearchParams(path.split('?')[1]).get('cursor') ?? undefined,
  );
  let cursor: string | null = null;
  do {
    const page = asPage(await ask(cursor === null ? first : withQuery(first, { cursor })));
    if (!page) throw usage('--paginate follows lists, and this is none.');
    yield page;
    checkPage(page);
    cursor = page.nextCursor;
  } while (cursor !== null);
}
