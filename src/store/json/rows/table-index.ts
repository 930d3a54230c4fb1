import type { TableName } from '../../../domain/records/rows.ts';
import type { ListedTable } from '../../store.ts';
import { tables } from '../../tables.ts';
import { endOfId, HashIndex } from './hash-index.ts';

/** A row of any table. Shared rows are frozen; others are parsed for one reader. */
export type Row = { readonly id: string };

/** Name of the index of all rows, which listed tables have. */
export const allRows = '';

interface Keys {
  unique: Record<string, (row: Row) => string | undefined>;
  indexed: readonly string[];
}

/** Returns a table's indexes, without its row type. */
export function keysOf(table: TableName): Keys {
  return tables[table] as unknown as Keys;
}

/** Returns the position of the first id that is not less than `id`. */
export function lowerBound(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Listed tables. They have an index of all rows. */
const listed: readonly TableName[] = [
  'tenants',
  'tokens',
  'venues',
  'screens',
  'devices',
  'mirrorPending',
] satisfies ListedTable[];

/**
 * One id is stored without an array: of 100,000 screens most have one device, one key and one code.
 */
type Ids = string | string[];

/** The part of `Map` that an index uses. */
type IndexMap<V> = Pick<Map<string, V>, 'get'> & {
  set(key: string, value: V): unknown;
  delete(key: string): unknown;
};

interface UniqueIndex {
  name: string;
  keyOf: (row: Row) => string | undefined;
  holders: IndexMap<Row>;
}

interface MemberIndex {
  member: string;
  ids: IndexMap<Ids>;
}

/** Rows by unique key, and sorted row ids by indexed member. */
export class TableIndex {
  readonly #unique: readonly UniqueIndex[];
  readonly #members: readonly MemberIndex[];

  /**
   * @param rowOf returns a row of the index by id. With it, keys and members need not be stored.
   * The result must reflect each `replace` right after the call.
   */
  constructor(table: TableName, rowOf?: (id: string) => Row | undefined) {
    const { unique, indexed } = keysOf(table);
    const members = listed.includes(table) ? [allRows, ...indexed] : indexed;
    const idsBy = (member: string): IndexMap<Ids> => {
      if (!rowOf) return new Map();
      return new HashIndex<Ids>((ids, value) => {
        const row = rowOf(firstOf(ids));
        return row !== undefined && memberOf(row, member) === value;
      }, endOfId);
    };
    this.#unique = Object.entries(unique).map(([name, keyOf]) => {
      const hashedChars = name === 'name' ? Number.POSITIVE_INFINITY : endOfId;
      return {
        name,
        keyOf,
        holders: rowOf
          ? new HashIndex<Row>((row, key) => keyOf(row) === key, hashedChars)
          : new Map<string, Row>(),
      };
    });
    this.#members = members.map((member) => ({ member, ids: idsBy(member) }));
  }

  /** Whether the table has neither unique keys nor indexed members. */
  get isNeverUsed(): boolean {
    return this.#unique.length === 0 && this.#members.length === 0;
  }

  /** Returns the row with a unique key. */
  holder(index: string, key: string): Row | undefined {
    for (const one of this.#unique) if (one.name === index) return one.holders.get(key);
    return undefined;
  }

  /** Returns the ids of rows whose member has this value, sorted. */
  ids(member: string, value: string): readonly string[] {
    const ids = this.#members.find((one) => one.member === member)?.ids.get(value) ?? [];
    return typeof ids === 'string' ? [ids] : ids;
  }

  /**
   * Updates the index after a row was inserted, replaced or deleted. Unchanged entries are skipped:
   * removing one of 100,000 ids takes 50 µs.
   */
  replace(before: Row | undefined, after: Row | null): void {
    for (const { keyOf, holders } of this.#unique) {
      const old = before && keyOf(before);
      const key = after ? keyOf(after) : undefined;
      // Another row may have taken over the old key already.
      if (old !== undefined && old !== key && holders.get(old)?.id === before?.id)
        holders.delete(old);
      if (key !== undefined && after) holders.set(key, after);
    }
    for (const { member, ids } of this.#members) {
      const old = before && memberOf(before, member);
      const value = after ? memberOf(after, member) : undefined;
      if (old === value) continue;
      if (old !== undefined && before) remove(ids, old, before.id);
      if (value !== undefined && after) insert(ids, value, after.id);
    }
  }

  /** Adds many unsorted rows. Sorting the ids once is cheaper than inserting each in order. */
  addAll(rows: Iterable<Row>): void {
    const all = this.#members.find(({ member }) => member === allRows);
    const collected = this.#members
      .filter((one) => one !== all)
      .map(({ member, ids }) => ({ member, ids: new CollectedIds(ids) }));
    const ids: string[] = [];
    // Visit each row once and update all indexes, which is friendlier to the CPU cache.
    for (const row of rows) {
      if (all) ids.push(row.id);
      for (const { keyOf, holders } of this.#unique) {
        const key = keyOf(row);
        if (key !== undefined) holders.set(key, row);
      }
      for (const { member, ids: found } of collected) {
        const value = memberOf(row, member);
        if (value !== undefined) found.add(value, row.id);
      }
    }
    ids.sort();
    for (const one of collected) one.ids.sort(ids);
    if (ids.length > 0) all?.ids.set(allRows, ids.length === 1 ? (ids[0] as string) : ids);
  }
}

/** Collects unsorted ids of many rows. */
class CollectedIds {
  readonly #index: IndexMap<Ids>;
  /** Ids of values that several rows have. A small map, because every row looks it up. */
  readonly #many = new Map<string, string[]>();

  constructor(index: IndexMap<Ids>) {
    this.#index = index;
  }

  add(value: string, id: string): void {
    const many = this.#many.get(value);
    if (many) many.push(id);
    else {
      const one = this.#index.get(value) as string | undefined;
      if (one === undefined) this.#index.set(value, id);
      else this.#many.set(value, [one, id]);
    }
  }

  /**
   * `all` holds the sorted ids of all rows. A value that every row has, such as the only tenant,
   * reuses them.
   */
  sort(all: readonly string[]): void {
    for (const [value, ids] of this.#many)
      this.#index.set(value, ids.length === all.length ? [...all] : ids.sort());
  }
}

function firstOf(ids: Ids): string {
  return typeof ids === 'string' ? ids : (ids[0] as string);
}

function memberOf(row: Row, member: string): string | undefined {
  if (member === allRows) return allRows;
  const value = (row as unknown as Record<string, unknown>)[member];
  return typeof value === 'string' ? value : undefined;
}

function insert(index: IndexMap<Ids>, value: string, id: string): void {
  const ids = index.get(value);
  if (ids === undefined) index.set(value, id);
  else if (typeof ids === 'string') index.set(value, ids < id ? [ids, id] : [id, ids]);
  else if ((ids.at(-1) as string) < id) ids.push(id);
  else ids.splice(lowerBound(ids, id), 0, id);
}

function remove(index: IndexMap<Ids>, value: string, id: string): void {
  const ids = index.get(value);
  if (!Array.isArray(ids)) index.delete(value);
  else {
    ids.splice(lowerBound(ids, id), 1);
    if (ids.length === 1) index.set(value, ids[0] as string);
  }
}
