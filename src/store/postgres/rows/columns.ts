import { hash } from 'node:crypto';
import { foldName } from '../../../domain/fields.ts';
import { codeFinishedAt } from '../../../domain/records/pairing-code.ts';
import { type Rows, sections, type TableName, tableNames } from '../../sections.ts';

/** The value of a column that is stored beside a row's text. */
type Value = string | number | null | Record<string, string>;

interface Column {
  name: string;
  type: 'text' | 'bigint' | 'double precision' | 'jsonb';
  // biome-ignore lint/suspicious/noExplicitAny: rows of every table
  of(row: any): Value;
}

/** The schema of a table: `id`, `row` (JSON text), and the columns used to find rows. */
export interface TableSchema {
  /** Qualified with the name of the database schema. */
  name: string;
  columns: readonly Column[];
  /** The columns with unique values. */
  unique: readonly string[];
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Replaces characters that PostgreSQL cannot store: NUL and lone surrogates. No name or id contains
 * them.
 */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/**
 * Hashes a unique key for storage. All hashes have the same length, however long the names in the
 * keys are.
 */
export function hashedKey(key: string): string {
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
  of: (row) => (typeof row[member] === 'string' ? storableText(row[member]) : null),
});
const minutesOf = (name: string, member: string): Column => ({
  name,
  type: 'double precision',
  of: ({ config }: Rows['configs']) => (typeof config[member] === 'number' ? config[member] : null),
});
const folded: Column = {
  name: 'folded',
  type: 'text',
  of: ({ name }) => storableText(foldName(name)),
};

/**
 * Replaces characters that PostgreSQL cannot store. Labels that differ only in such characters
 * become equal, so callers must filter again.
 */
export function storableLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [storableText(label), storableText(value)]),
  );
}
const labelled: Column = {
  name: 'labels',
  type: 'jsonb',
  of: ({ labels }) => storableLabels(labels),
};

/** Further columns, used by the filters of lists and by joins. */
const extraColumns: { [T in TableName]?: readonly Column[] } = {
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

function shapeOf(table: TableName): TableSchema {
  const { unique, indexed } = sections[table] as {
    // biome-ignore lint/suspicious/noExplicitAny: keys of every table
    unique: Record<string, (row: any) => string | undefined>;
    indexed: readonly string[];
  };
  const keys = Object.entries(unique).map(([index, keyOf]): Column => {
    const of = (row: unknown) => {
      const key = keyOf(row);
      return key === undefined ? null : hashedKey(key);
    };
    return { name: keyColumn(index), type: 'text', of };
  });
  const columns = [...keys, ...indexed.map(textOf), ...(extraColumns[table] ?? [])];
  return { name: `signage.${snake(table)}`, columns, unique: keys.map(({ name }) => name) };
}

export const tableSchemas = Object.fromEntries(
  tableNames.map((table) => [table, shapeOf(table)]),
) as Record<TableName, TableSchema>;
