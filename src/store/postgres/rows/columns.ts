import { hash } from 'node:crypto';
import { foldName } from '../../../domain/fields.ts';
import { codeFinishedAt } from '../../../domain/records/pairing-code.ts';
import type { Rows, TableName } from '../../../domain/records/rows.ts';
import { tableNames, tables } from '../../tables.ts';

/** What stands in a column beside a row's text. */
type Value = string | number | null | Record<string, string>;

interface Column {
  name: string;
  type: 'text' | 'bigint' | 'double precision' | 'jsonb';
  // biome-ignore lint/suspicious/noExplicitAny: rows of every table
  of(row: any): Value;
}

/** A table as the database has it: `id`, `row` (its JSON text), and what rows are found by. */
export interface Shape {
  /** With its schema. */
  name: string;
  columns: readonly Column[];
  /** The columns that at most one row may have the value of. */
  unique: readonly string[];
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Text as PostgreSQL can keep it. It takes neither NUL nor half a character; no name or id has them. */
export function keptText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/**
 * A unique key as it is kept: hashed. Neighbours in the index are then not neighbours in life, such as the screens of one venue, whose TVs register at the same
 * moment: the database tells changes apart by the page of an index that they read and write.
 */
export function keptKey(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, 22);
}

export function keyColumn(index: string): string {
  return `key_${snake(index)}`;
}

export function memberColumn(member: string): string {
  return snake(member);
}

const textOf = (member: string): Column => ({
  name: memberColumn(member),
  type: 'text',
  of: (row) => (typeof row[member] === 'string' ? keptText(row[member]) : null),
});
const minutesOf = (name: string, member: string): Column => ({
  name,
  type: 'double precision',
  of: ({ config }: Rows['configs']) => (typeof config[member] === 'number' ? config[member] : null),
});
const folded: Column = { name: 'folded', type: 'text', of: ({ name }) => keptText(foldName(name)) };

/** A superset of what its labels are, where one of them has half a character: who filters by them looks again. */
export function keptLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [keptText(label), keptText(value)]),
  );
}
const labelled: Column = { name: 'labels', type: 'jsonb', of: ({ labels }) => keptLabels(labels) };

/** Beside keys and indexes: what lists filter by, and what other statements join. */
const further: { [T in TableName]?: readonly Column[] } = {
  tenants: [folded],
  tokens: [folded],
  venues: [folded, labelled],
  screens: [folded, labelled, textOf('state')],
  devices: [textOf('state')],
  deviceKeys: [textOf('screenId')],
  codes: [{ name: 'finished_at', type: 'bigint', of: codeFinishedAt }],
  configs: [
    minutesOf('sync_minutes', 'syncIntervalMinutes'),
    minutesOf('heartbeat_minutes', 'heartbeatIntervalMinutes'),
  ],
};

function shapeOf(table: TableName): Shape {
  const { unique, indexed } = tables[table] as {
    // biome-ignore lint/suspicious/noExplicitAny: keys of every table
    unique: Record<string, (row: any) => string | undefined>;
    indexed: readonly string[];
  };
  const keys = Object.entries(unique).map(([index, keyOf]): Column => {
    const of = (row: unknown) => {
      const key = keyOf(row);
      return key === undefined ? null : keptKey(key);
    };
    return { name: keyColumn(index), type: 'text', of };
  });
  const columns = [...keys, ...indexed.map(textOf), ...(further[table] ?? [])];
  return { name: `signage.${snake(table)}`, columns, unique: keys.map(({ name }) => name) };
}

export const shapes = Object.fromEntries(
  tableNames.map((table) => [table, shapeOf(table)]),
) as Record<TableName, Shape>;
