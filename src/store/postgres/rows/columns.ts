import { hash } from 'node:crypto';
import { foldName } from '../../../domain/fold-name.ts';
import type { Section } from '../../section.ts';
import { sectionOf, type TableName } from '../../sections.ts';

/** The value of a column that is stored beside a row's text. */
type Value = string | number | null | Record<string, string> | readonly string[];

interface StoredColumn {
  name: string;
  type: 'text' | 'text[]' | 'double precision' | 'jsonb';
  // biome-ignore lint/suspicious/noExplicitAny: rows of every table
  of(row: any): Value;
}

/** The schema of a table: `id`, `row` (JSON text), and the columns used to find rows. */
export interface TableSchema {
  /** Qualified with the name of the database schema. */
  name: string;
  /** The name alone. */
  place: string;
  columns: readonly StoredColumn[];
  /** The columns with unique values. */
  unique: readonly string[];
  /** The columns by which changes look rows up. */
  lookedUp: readonly string[];
  /** Those of `lookedUp` that have several values in each row. */
  multiple: readonly string[];
  /** The indexes, as they follow the name of the table in `CREATE INDEX`. */
  indexes: readonly string[];
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

export function multipleColumn(index: string): string {
  return `all_${snake(index)}`;
}

/**
 * Replaces characters that PostgreSQL cannot store. Labels that differ only in such characters
 * become equal, so callers must filter again.
 */
export function storableLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [storableText(label), storableText(value)]),
  );
}

/** Columns for the filters of lists, for sections whose rows have these members. */
const listColumns: Record<string, StoredColumn> = {
  name: {
    name: 'folded',
    type: 'text',
    of: ({ name }: { name: string | null }) => name && storableText(foldName(name)),
  },
  labels: { name: 'labels', type: 'jsonb', of: ({ labels }) => storableLabels(labels) },
};

const known = new WeakMap<object, TableSchema>();

export function tableSchema(table: TableName): TableSchema {
  const section = sectionOf(table);
  const schema = known.get(section) ?? schemaOf(table, section);
  known.set(section, schema);
  return schema;
}

function schemaOf(table: TableName, section: Section): TableSchema {
  const { row, unique, indexed, multiple, listed, filters, numbers } = section;
  const keys = Object.entries(unique).map(([index, keyOf]): StoredColumn => {
    const of = (row: { id: string }) => {
      const key = keyOf(row);
      return key === undefined ? null : hashedKey(key);
    };
    return { name: keyColumn(index), type: 'text', of };
  });
  const texts = [...indexed, ...filters].map((member: string): StoredColumn => {
    const of = (row: Record<string, unknown>) =>
      typeof row[member] === 'string' ? storableText(row[member]) : null;
    return { name: memberColumn(member), type: 'text', of };
  });
  const arrays = Object.entries(multiple).map(
    ([index, of]): StoredColumn => ({
      name: multipleColumn(index),
      type: 'text[]',
      // Hashes are short, and all values are storable.
      of: (row: { id: string }) => of(row).map(hashedKey),
    }),
  );
  const computed = Object.entries(numbers).map(
    ([name, of]): StoredColumn => ({ name: snake(name), type: 'double precision', of }),
  );
  const listing = Object.entries(listColumns).flatMap(([member, column]) =>
    listed && member in row.shape ? [column] : [],
  );
  const labelled = listing.includes(listColumns.labels as StoredColumn);
  const isOfTenant = (indexed as readonly string[]).includes('tenantId');
  return {
    name: `signage.${snake(table)}`,
    place: snake(table),
    columns: [...keys, ...texts, ...arrays, ...computed, ...listing],
    unique: keys.map(({ name }) => name),
    lookedUp: ['id', ...[...keys, ...arrays].map(({ name }) => name), ...indexed.map(memberColumn)],
    multiple: arrays.map(({ name }) => name),
    indexes: [
      // Changes look up by equality only. Lists follow the order of ids.
      ...indexed
        .map(memberColumn)
        .map((name) => (listed ? `(${name}, id)` : `USING hash (${name})`)),
      ...(isOfTenant ? filters.map((member) => `(tenant_id, ${memberColumn(member)}, id)`) : []),
      ...arrays.map(({ name }) => `USING gin (${name})`),
      ...computed.map(({ name }) => `(${name})`),
      ...(labelled ? ['USING gin (labels jsonb_path_ops)'] : []),
    ],
  };
}
