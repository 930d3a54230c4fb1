import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';

/** A row with its version, which changes with every update. */
export interface VersionedRow {
  id: string;
  row: string;
  version: string;
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

  constructor(query: Query, limits = lookUpLimits) {
    this.#query = query;
    this.#limits = limits;
  }

  /**
   * Returns the rows with one of these values, ordered by id. The statement starts after the call,
   * so it sees everything committed before the call.
   */
  async rows(table: string, column: string, values: readonly string[]): Promise<VersionedRow[]> {
    const batcher = this.#batcher(table, column);
    const found = await Promise.all([...new Set(values)].map((value) => batcher.add(value)));
    const rows = found.flat();
    return rows.length < 2 ? rows : rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async count(table: string, column: string, value: string): Promise<number> {
    const [result] = await this.#query<{ found: number }>(
      `SELECT count(*) AS found FROM ${table} WHERE ${column} = $1`,
      [value],
    );
    return (result as { found: number }).found;
  }

  #batcher(table: string, column: string): Batcher<string, readonly VersionedRow[]> {
    const name = `${table}.${column}`;
    const known = this.#batchers.get(name);
    if (known) return known;
    const batcher = new Batcher(this.#limits, (values: readonly string[]) =>
      this.#select(table, column, values),
    );
    this.#batchers.set(name, batcher);
    return batcher;
  }

  async #select(
    table: string,
    column: string,
    values: readonly string[],
  ): Promise<VersionedRow[][]> {
    const text = `SELECT ${column} AS value, id, row, xmin::text || ctid::text AS version FROM ${table} WHERE ${column} = ANY ($1::text[])`;
    const found = await this.#query<VersionedRow & { value: string }>(text, [[...new Set(values)]]);
    const byValue = new Map(values.map((value) => [value, [] as VersionedRow[]]));
    for (const one of found) byValue.get(one.value)?.push(one);
    return values.map((value) => byValue.get(value) as VersionedRow[]);
  }
}
