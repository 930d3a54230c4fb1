import type { TableName } from '../../domain/records.ts';
import type { ListedTable } from '../store.ts';
import { tables } from '../tables.ts';

/** A row of whatever table; frozen, so that it may be shared. */
export type Row = { readonly id: string };

/** The index that holds all rows, of tables that are listed. */
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

/** Tables whose rows are listed: these have an index of all rows. */
const listed: readonly TableName[] = ['tenants', 'tokens', 'venues', 'screens', 'devices', 'mirrorPending'] satisfies ListedTable[];

interface UniqueIndex {
  name: string;
  keyOf: (row: Row) => string | undefined;
  holders: Map<string, string>;
}

interface MemberIndex {
  member: string;
  /** One id alone stands for itself: of 100,000 screens most have one device, one key and one code. */
  ids: Map<string, string | string[]>;
}

/** Ids of rows by their unique keys and by their indexed members, the latter in order. */
export class TableIndex {
  readonly #unique: readonly UniqueIndex[];
  readonly #members: readonly MemberIndex[];

  constructor(table: TableName) {
    const { unique, indexed } = keysOf(table);
    const members = listed.includes(table) ? [allRows, ...indexed] : indexed;
    this.#unique = Object.entries(unique).map(([name, keyOf]) => ({ name, keyOf, holders: new Map() }));
    this.#members = members.map((member) => ({ member, ids: new Map() }));
  }

  /** The table has neither keys nor indexed members. */
  get isNeverUsed(): boolean {
    return this.#unique.length === 0 && this.#members.length === 0;
  }

  /** The row that has this unique key. */
  holder(index: string, key: string): string | undefined {
    return this.#unique.find((one) => one.name === index)?.holders.get(key);
  }

  /** Rows whose member has this value, in order. */
  ids(member: string, value: string): readonly string[] {
    const ids = this.#members.find((one) => one.member === member)?.ids.get(value) ?? [];
    return typeof ids === 'string' ? [ids] : ids;
  }

  /** A row has come, gone, or taken the place of the one with its id. What stays the same is not touched: taking one out of 100,000 ids costs 50 µs. */
  replace(before: Row | undefined, after: Row | null): void {
    for (const { keyOf, holders } of this.#unique) {
      const [old, key] = [before && keyOf(before), after ? keyOf(after) : undefined];
      // The old key may have passed to another row before this one changes.
      if (old !== undefined && old !== key && holders.get(old) === before?.id) holders.delete(old);
      if (key !== undefined && after) holders.set(key, after.id);
    }
    for (const { member, ids } of this.#members) {
      const [old, value] = [before && memberOf(before, member), after ? memberOf(after, member) : undefined];
      if (old === value) continue;
      if (old !== undefined && before) takeOut(ids, old, before.id);
      if (value !== undefined && after) insert(ids, value, after.id);
    }
  }

  /** Adds many rows in whatever order: sorting them once costs less than finding each one's place. */
  addAll(rows: ReadonlyMap<string, Row>): void {
    const isListed = this.#members.some(({ member }) => member === allRows);
    const ids = isListed ? [...rows.keys()].sort() : [...rows.keys()];
    const add = isListed ? append : insert;
    // Each row once: what is just being looked at is at hand for all indexes.
    for (const id of ids) {
      const row = rows.get(id) as Row;
      for (const { keyOf, holders } of this.#unique) {
        const key = keyOf(row);
        if (key !== undefined) holders.set(key, row.id);
      }
      for (const { member, ids: found } of this.#members) {
        const value = memberOf(row, member);
        if (value !== undefined) add(found, value, row.id);
      }
    }
  }
}

function memberOf(row: Row, member: string): string | undefined {
  if (member === allRows) return allRows;
  const value = (row as unknown as Record<string, unknown>)[member];
  return typeof value === 'string' ? value : undefined;
}

function insert(index: Map<string, string | string[]>, value: string, id: string): void {
  const ids = index.get(value);
  if (ids === undefined) index.set(value, id);
  else if (typeof ids === 'string') index.set(value, ids < id ? [ids, id] : [id, ids]);
  else if ((ids.at(-1) as string) < id) ids.push(id);
  else ids.splice(lowerBound(ids, id), 0, id);
}

/** As `insert`, of one that is above all that are there. */
function append(index: Map<string, string | string[]>, value: string, id: string): void {
  const ids = index.get(value);
  if (ids === undefined) index.set(value, id);
  else if (typeof ids === 'string') index.set(value, [ids, id]);
  else ids.push(id);
}

function takeOut(index: Map<string, string | string[]>, value: string, id: string): void {
  const ids = index.get(value);
  if (!Array.isArray(ids)) index.delete(value);
  else {
    ids.splice(lowerBound(ids, id), 1);
    if (ids.length === 1) index.set(value, ids[0] as string);
  }
}
