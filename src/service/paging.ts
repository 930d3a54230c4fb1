import { invalid, type SignageError } from '../domain/error.ts';
import { asGuid } from '../domain/id.ts';
import type { Page } from '../domain/paging.ts';
import type { Slice } from '../store/queries.ts';

interface ListFilters {
  cursor?: string | undefined;
  limit: number;
  name?: string | undefined;
  search?: string | undefined;
}

/** Returns the error for a cursor that no page of the list returned. */
export function badCursor(): SignageError {
  return invalid([
    {
      path: 'query.cursor',
      message: 'is not a cursor of this list: pass a nextCursor unchanged',
    },
  ]);
}

/** Parses the `?cursor=` of a list that pages by id. */
export function afterId(cursor: string | undefined): { after?: string } {
  if (cursor === undefined) return {};
  const after = asGuid(cursor);
  if (after === undefined) throw badCursor();
  return { after };
}

/** Converts a slice of rows to a page of views. */
export async function toPage<R, V>(
  slice: Slice<R>,
  view: (row: R) => V | Promise<V>,
): Promise<Page<V>> {
  return { items: await Promise.all(slice.items.map(view)), nextCursor: slice.next };
}

/**
 * Converts `?cursor=`, `?limit=`, `?name=` and `?search=` of a list to a query of the store.
 *
 * @param signal aborts when the client disconnects
 */
export function pageFilters(
  { cursor, limit, name, search }: ListFilters,
  signal: AbortSignal | undefined,
) {
  return {
    ...afterId(cursor),
    limit,
    signal,
    ...(name === undefined ? {} : { name }),
    ...(search === undefined ? {} : { search }),
  };
}
