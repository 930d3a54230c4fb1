import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';

/** The id of a row with its version, which changes with every update. */
export interface VersionedId {
  id: string;
  version: string;
}

export interface VersionedRow extends VersionedId {
  row: string;
}

/** Limits of look-ups: concurrent statements, and values per statement. */
export const lookUpLimits = { concurrency: 2, maxItems: 200 };
/**
 * Limits for unknown credentials. They are low, because all results of a statement are processed in
 * one event loop turn.
 */
export const unknownLookUpLimits = { concurrency: 1, maxItems: 8 };

/** Looks up rows by column values. Concurrent look-ups on the same column share a statement. */
export class VersionedRows {
  readonly #query: Query;
  readonly #limits: typeof lookUpLimits;
  readonly #batchers = new Map<string, Batcher<string, readonly VersionedRow[]>>();
  readonly #idBatchers = new Map<string, Batcher<string, readonly VersionedId[]>>();

  constructor(query: Query, limits = lookUpLimits) {
    this.#query = query;
    this.#limits = limits;
  }

  /**
   * Returns the rows with one of these values, ordered by id. The statement starts after the call,
   * so it sees everything committed before the call.
   */
  async rows(table: string, column: string, values: readonly string[]): Promise<VersionedRow[]> {
    const batcher = batcherOf(this.#batchers, `${table}.${column}`, this.#limits, (group) =>
      this.#select(table, column, group),
    );
    const found = await Promise.all([...new Set(values)].map((value) => batcher.add(value)));
    const rows = found.flat();
    return rows.length < 2 ? rows : rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Returns the ids of the rows with one of these values in a column of several values. */
  async ids(table: string, column: string, values: readonly string[]): Promise<VersionedId[]> {
    const batcher = batcherOf(this.#idBatchers, `${table}.${column}`, this.#limits, (group) =>
      this.#selectIds(table, column, group),
    );
    const found = await Promise.all([...new Set(values)].map((value) => batcher.add(value)));
    return [...new Map(found.flat().map((one) => [one.id, one])).values()];
  }

  async count(table: string, column: string, value: string): Promise<number> {
    const [result] = await this.#query<{ found: number }>(
      `SELECT count(*) AS found FROM ${table} WHERE ${column} = $1`,
      [value],
    );
    return (result as { found: number }).found;
  }

  async #select(
    table: string,
    column: string,
    values: readonly string[],
  ): Promise<VersionedRow[][]> {
    const text = `SELECT ${column} AS value, id, row, xmin::text || ctid::text AS version FROM ${table} WHERE ${column} = ANY ($1::text[])`;
    const found = await this.#query<VersionedRow & { value: string }>(text, [[...new Set(values)]]);
    return byValue(values, found);
  }

  async #selectIds(
    table: string,
    column: string,
    values: readonly string[],
  ): Promise<VersionedId[][]> {
    const text = `SELECT value, id, xmin::text || ctid::text AS version FROM ${table}, unnest(${column}) AS value WHERE ${column} && $1::text[] AND value = ANY ($1::text[])`;
    const found = await this.#query<VersionedId & { value: string }>(text, [[...new Set(values)]]);
    return byValue(values, found);
  }
}

function byValue<T extends { value: string }>(
  values: readonly string[],
  found: readonly T[],
): T[][] {
  const rows = new Map(values.map((value) => [value, [] as T[]]));
  for (const one of found) rows.get(one.value)?.push(one);
  return values.map((value) => rows.get(value) as T[]);
}

function batcherOf<T>(
  batchers: Map<string, Batcher<string, T>>,
  name: string,
  limits: typeof lookUpLimits,
  work: (values: readonly string[]) => Promise<readonly T[]>,
): Batcher<string, T> {
  const batcher = batchers.get(name) ?? new Batcher(limits, work);
  batchers.set(name, batcher);
  return batcher;
}
