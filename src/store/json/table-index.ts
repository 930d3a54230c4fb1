import type { TableName } from '../../domain/records.ts';
import { tables } from '../tables.ts';

/** A row of whatever table; frozen, so that it may be shared. */
export type Row = { readonly id: string };

/** The index that holds all rows. */
export const allRows = '';

interface Keys {
  unique: Record<string, (row: Row) => string | undefined>;
  indexed: readonly string[];
}

/** How a table's rows are indexed, without its row type. */
export function keysOf(table: TableName): Keys {
  return tables[table] as unknown as Keys;
}

/** The place of the first id that is not below `id`. */
export function lowerBound(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Ids of rows by their unique keys and by their indexed members, the latter in order. */
export class TableIndex {
  readonly #keys: Keys;
  readonly #members: readonly string[];
  readonly #holders = new Map<string, Map<string, string>>();
  readonly #ids = new Map<string, Map<string, string[]>>();

  constructor(table: TableName) {
    this.#keys = keysOf(table);
    this.#members = [allRows, ...this.#keys.indexed];
    for (const index of Object.keys(this.#keys.unique)) this.#holders.set(index, new Map());
    for (const member of this.#members) this.#ids.set(member, new Map());
  }

  /** The row that has this unique key. */
  holder(index: string, key: string): string | undefined {
    return this.#holders.get(index)?.get(key);
  }

  /** Rows whose member has this value, in order. */
  ids(member: string, value: string): readonly string[] {
    return this.#ids.get(member)?.get(value) ?? [];
  }

  add(row: Row): void {
    for (const [index, keyOf] of Object.entries(this.#keys.unique)) {
      const key = keyOf(row);
      if (key !== undefined) this.#holders.get(index)?.set(key, row.id);
    }
    for (const member of this.#members) {
      const value = valueOf(row, member);
      if (value !== undefined) insert(this.#ids.get(member) as Map<string, string[]>, value, row.id);
    }
  }

  remove(row: Row): void {
    for (const [index, keyOf] of Object.entries(this.#keys.unique)) {
      const key = keyOf(row);
      // The key may have passed to another row before this one goes.
      if (key !== undefined && this.holder(index, key) === row.id) this.#holders.get(index)?.delete(key);
    }
    for (const member of this.#members) {
      const value = valueOf(row, member);
      if (value !== undefined) takeOut(this.#ids.get(member) as Map<string, string[]>, value, row.id);
    }
  }
}

function valueOf(row: Row, member: string): string | undefined {
  if (member === allRows) return allRows;
  const value = (row as unknown as Record<string, unknown>)[member];
  return typeof value === 'string' ? value : undefined;
}

function insert(index: Map<string, string[]>, value: string, id: string): void {
  const ids = index.get(value);
  const last = ids?.at(-1);
  if (!ids) index.set(value, [id]);
  else if (last === undefined || last < id) ids.push(id);
  else {
    const place = lowerBound(ids, id);
    if (ids[place] !== id) ids.splice(place, 0, id);
  }
}

function takeOut(index: Map<string, string[]>, value: string, id: string): void {
  const ids = index.get(value) ?? [];
  const place = lowerBound(ids, id);
  if (ids[place] === id) ids.splice(place, 1);
  if (ids.length === 0) index.delete(value);
}
