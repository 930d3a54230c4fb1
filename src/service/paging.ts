import { invalid, type SignageError } from '../domain/error.ts';
import { asGuid } from '../domain/id.ts';
import type { Page } from '../domain/paging.ts';
import type { Slice } from '../store/store.ts';

/** The error for a cursor that no page of the list returned. */
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

/** Returns the `?name=` and `?search=` filters that were given. */
export function nameFilters(query: { name?: string | undefined; search?: string | undefined }): {
  name?: string;
  search?: string;
} {
  return {
    ...(query.name === undefined ? {} : { name: query.name }),
    ...(query.search === undefined ? {} : { search: query.search }),
  };
}
