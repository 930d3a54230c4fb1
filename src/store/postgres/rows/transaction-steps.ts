import type { AuditEntry } from '../../../domain/records/audit.ts';
import type { TableName } from '../../sections.ts';
import { storableText, tableSchema } from './columns.ts';
import type { VersionedId } from './versioned-rows.ts';

/**
 * One step of a change, executed in order by `signage.make_changes`. After a failed check the
 * remaining steps of the change are skipped. Checks come before writes, so a change with a failed
 * check writes nothing.
 */
export type Step =
  | VersionCheck
  | Put
  | { what: 'delete'; place: string; vals: readonly string[] }
  | { what: 'audit'; columns: object };

export interface VersionCheck {
  what: 'seen' | 'counted';
  /** The table, without its schema. */
  place: string;
  col: string;
  vals: readonly string[];
  /** Ids to ignore. */
  but?: readonly string[];
  seen: string | null;
}

interface Put {
  what: 'put';
  place: string;
  table: TableName;
  columns: Readonly<Record<string, unknown>>;
}

/**
 * Returns a check that the rows with one of the values are unchanged: same rows, same versions. The
 * check ignores rows with the ids in `but`.
 */
export function checkUnchanged(
  table: TableName,
  col: string,
  vals: readonly string[],
  rows: readonly VersionedId[],
  but: readonly string[] = [],
): VersionCheck {
  const versions = rows.map(({ version }) => version).sort();
  return {
    what: 'seen',
    place: tableSchema(table).place,
    col,
    vals,
    but,
    seen: versions.length === 0 ? null : versions.join(','),
  };
}

/** Returns a check that the number of rows is unchanged. */
export function checkCount(
  table: TableName,
  col: string,
  value: string,
  count: number,
): VersionCheck {
  return {
    what: 'counted',
    place: tableSchema(table).place,
    col,
    vals: [value],
    seen: String(count),
  };
}

export function putStep(table: TableName, text: string): Step {
  return { what: 'put', place: tableSchema(table).place, table, columns: rowColumns(table, text) };
}

/** Returns the columns of a row, given as its JSON text. */
export function rowColumns(table: TableName, text: string): Readonly<Record<string, unknown>> {
  const row = JSON.parse(text) as { id: string };
  const values = tableSchema(table).columns.map((column) => [column.name, column.of(row)]);
  return { id: storableText(row.id), row: text, ...Object.fromEntries(values) };
}

export function deleteStep(table: TableName, id: string): Step {
  return { what: 'delete', place: tableSchema(table).place, vals: [storableText(id)] };
}

/** Returns an entry as JSON text, with the columns for filtering. */
export function auditColumns(entry: AuditEntry) {
  const { at, tenantId, action, subject, venueIds = [] } = entry;
  const found = {
    tenant_id: tenantId ?? '',
    action: storableText(action),
    subject_id: subject.id,
    venue_ids: venueIds,
  };
  return { at, ...found, entry: JSON.stringify(entry) };
}
