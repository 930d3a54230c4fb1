import type { AuditEntry, TableName } from '../../../domain/records/rows.ts';
import { keptText, shapes } from './columns.ts';
import type { VersionedRow } from './versioned-rows.ts';

/** One of the things that the database does for a change, in their order (`signage.make_changes`). After a check that fails, nothing of the change is done. */
export type Step =
  | Check
  | Put
  | { what: 'delete'; place: string; vals: readonly string[] }
  | { what: 'audit'; columns: object };

export interface Check {
  what: 'seen' | 'counted';
  /** A table, without its schema. */
  place: string;
  col: string;
  vals: readonly string[];
  /** Ids that do not count. */
  but?: readonly string[];
  seen: string | null;
}

interface Put {
  what: 'put';
  place: string;
  table: TableName;
  columns: Readonly<Record<string, unknown>>;
}

const placeOf = (table: TableName) => shapes[table].name.slice('signage.'.length);

/** These are still all the rows that have one of the values, and in these versions. */
export function stillSeen(
  table: TableName,
  col: string,
  vals: readonly string[],
  rows: readonly VersionedRow[],
): Check {
  const versions = rows.map(({ version }) => version).sort();
  return {
    what: 'seen',
    place: placeOf(table),
    col,
    vals,
    but: [],
    seen: versions.length === 0 ? null : versions.join(','),
  };
}

/** Nobody but these has the keys. */
export function stillFree(
  table: TableName,
  col: string,
  vals: readonly string[],
  but: readonly string[],
): Check {
  return { what: 'seen', place: placeOf(table), col, vals, but, seen: null };
}

export function stillCounted(table: TableName, col: string, value: string, count: number): Check {
  return { what: 'counted', place: placeOf(table), col, vals: [value], seen: String(count) };
}

export function putting(table: TableName, text: string): Step {
  const row = JSON.parse(text) as { id: string };
  const values = shapes[table].columns.map((column) => [column.name, column.of(row)]);
  return {
    what: 'put',
    place: placeOf(table),
    table,
    columns: { id: keptText(row.id), row: text, ...Object.fromEntries(values) },
  };
}

export function deleting(table: TableName, id: string): Step {
  return { what: 'delete', place: placeOf(table), vals: [keptText(id)] };
}

export function auditing(entry: AuditEntry): Step {
  return { what: 'audit', columns: auditColumns(entry) };
}

/** An entry's text, and what it is found by. */
export function auditColumns(entry: AuditEntry) {
  const { at, tenantId, action, subject, venueIds = [] } = entry;
  const found = {
    tenant_id: tenantId ?? '',
    action: keptText(action),
    subject_id: subject.id,
    venue_ids: venueIds,
  };
  return { at, ...found, entry: JSON.stringify(entry) };
}
