import type { ListQuery } from './queries.ts';
import type { ListedTable } from './sections.ts';

/** Whether a row has the members and the labels that a query asks for. */
export function hasMembersAndLabels<T extends ListedTable>(
  row: Record<string, unknown>,
  { where = {}, labels = {} }: ListQuery<T>,
): boolean {
  const own = (row.labels ?? {}) as Record<string, string>;
  return (
    Object.entries(where).every(
      ([member, value]) => value === undefined || [value].flat().includes(row[member] as never),
    ) &&
    Object.entries(labels).every(
      ([label, value]) => Object.hasOwn(own, label) && own[label] === value,
    )
  );
}
