import type { TableName } from '../../../domain/records/rows.ts';
import type { ListedTable } from '../../store.ts';
import { tables } from '../../tables.ts';
import { endOfId, HashIndex } from './hash-index.ts';

/** A row of whatever table; frozen where it is shared, or made for the one who reads it. */
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
const listed: readonly TableName[] = [
  'tenants',
  'tokens',
  'venues',
  'screens',
  'devices',
  'mirrorPending',
] satisfies ListedTable[];

/** One id alone stands for itself: of 100,000 screens most have one device, one key and one code. */
type Ids = string | string[];

/** What an index needs of a map. */
type Found<V> = Pick<Map<string, V>, 'get'> & {
  set(key: string, value: V): unknown;
  delete(key: string): unknown;
};

interface UniqueIndex {
  name: string;
  keyOf: (row: Row) => string | undefined;
  holders: Found<Row>;
}

interface MemberIndex {
  member: string;
  ids: Found<Ids>;
}

/** Rows by their unique keys, and ids of rows by their indexed members, in order. */
export class TableIndex {
  readonly #unique: readonly UniqueIndex[];
  readonly #members: readonly MemberIndex[];

  /** With `rowOf`, which tells the rows that are in the index, keys and members need not be kept beside them: what `replace` is told must become so right after it. */
  constructor(table: TableName, rowOf?: (id: string) => Row | undefined) {
    const { unique, indexed } = keysOf(table);
    const members = listed.includes(table) ? [allRows, ...indexed] : indexed;
    const idsBy = (member: string): Found<Ids> => {
      if (!rowOf) return new Map();
      return new HashIndex<Ids>((ids, value) => {
        const row = rowOf(firstOf(ids));
        return row !== undefined && memberOf(row, member) === value;
      }, endOfId);
    };
    this.#unique = Object.entries(unique).map(([name, keyOf]) => {
      const mostSummed = name === 'name' ? Number.POSITIVE_INFINITY : endOfId;
      return {
        name,
        keyOf,
        holders: rowOf
          ? new HashIndex<Row>((row, key) => keyOf(row) === key, mostSummed)
          : new Map<string, Row>(),
      };
    });
    this.#members = members.map((member) => ({ member, ids: idsBy(member) }));
  }

  /** The table has neither keys nor indexed members. */
  get isNeverUsed(): boolean {
    return this.#unique.length === 0 && this.#members.length === 0;
  }

  /** The row that has this unique key. */
  holder(index: string, key: string): Row | undefined {
    for (const one of this.#unique) if (one.name === index) return one.holders.get(key);
    return undefined;
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
      if (old !== undefined && old !== key && holders.get(old)?.id === before?.id)
        holders.delete(old);
      if (key !== undefined && after) holders.set(key, after);
    }
    for (const { member, ids } of this.#members) {
      const [old, value] = [
        before && memberOf(before, member),
        after ? memberOf(after, member) : undefined,
      ];
      if (old === value) continue;
      if (old !== undefined && before) takeOut(ids, old, before.id);
      if (value !== undefined && after) insert(ids, value, after.id);
    }
  }

  /** Adds many rows in whatever order: sorting their ids once costs less than finding each one's place. */
  addAll(rows: Iterable<Row>): void {
    const all = this.#members.find(({ member }) => member === allRows);
    const gathered = this.#members
      .filter((one) => one !== all)
      .map(({ member, ids }) => ({ member, ids: new GatheredIds(ids) }));
    const ids: string[] = [];
    // Each row once, as they lie in memory: what is just being looked at is at hand for all indexes.
    for (const row of rows) {
      if (all) ids.push(row.id);
      for (const { keyOf, holders } of this.#unique) {
        const key = keyOf(row);
        if (key !== undefined) holders.set(key, row);
      }
      for (const { member, ids: found } of gathered) {
        const value = memberOf(row, member);
        if (value !== undefined) found.add(value, row.id);
      }
    }
    ids.sort();
    for (const one of gathered) one.ids.sort(ids);
    if (ids.length > 0) all?.ids.set(allRows, ids.length === 1 ? (ids[0] as string) : ids);
  }
}

/** Ids that come in no order, of many rows. */
class GatheredIds {
  readonly #index: Found<Ids>;
  /** Values that several rows have. There are few of them, and every row asks. */
  readonly #many = new Map<string, string[]>();

  constructor(index: Found<Ids>) {
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

  /** `all` are the ids of all rows, sorted: where there is but one tenant, they are its. */
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

function insert(index: Found<Ids>, value: string, id: string): void {
  const ids = index.get(value);
  if (ids === undefined) index.set(value, id);
  else if (typeof ids === 'string') index.set(value, ids < id ? [ids, id] : [id, ids]);
  else if ((ids.at(-1) as string) < id) ids.push(id);
  else ids.splice(lowerBound(ids, id), 0, id);
}

function takeOut(index: Found<Ids>, value: string, id: string): void {
  const ids = index.get(value);
  if (!Array.isArray(ids)) index.delete(value);
  else {
    ids.splice(lowerBound(ids, id), 1);
    if (ids.length === 1) index.set(value, ids[0] as string);
  }
}
