import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';

/** A row as it was read, and which version of it: each change of a row makes another. */
export interface VersionedRow {
  id: string;
  row: string;
  version: string;
}

/** Look-ups of one kind that are under way at a time, and what one statement asks for. */
export const lookUps = { lanes: 2, most: 200 };
/** The same for credentials that were not found before: few, for all that share a statement are answered in one turn of the event loop. */
export const strangersLookUps = { lanes: 1, most: 8 };

/** Looks rows up by a column; those who ask for the same column at about the same moment share a statement. */
export class VersionedRows {
  readonly #ask: Query;
  readonly #how: typeof lookUps;
  readonly #places = new Map<string, Batcher<string, readonly VersionedRow[]>>();

  constructor(ask: Query, how = lookUps) {
    this.#ask = ask;
    this.#how = how;
  }

  /** The rows that have one of these values, by id. Each statement begins after the call: what was committed before is seen. */
  async rows(table: string, column: string, values: readonly string[]): Promise<VersionedRow[]> {
    const place = this.#place(table, column);
    const found = await Promise.all([...new Set(values)].map((value) => place.do(value)));
    const rows = found.flat();
    return rows.length < 2 ? rows : rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async count(table: string, column: string, value: string): Promise<number> {
    const [answer] = await this.#ask<{ found: number }>(
      `SELECT count(*) AS found FROM ${table} WHERE ${column} = $1`,
      [value],
    );
    return (answer as { found: number }).found;
  }

  #place(table: string, column: string): Batcher<string, readonly VersionedRow[]> {
    const name = `${table}.${column}`;
    const known = this.#places.get(name);
    if (known) return known;
    const place = new Batcher(this.#how, (values: readonly string[]) =>
      this.#look(table, column, values),
    );
    this.#places.set(name, place);
    return place;
  }

  async #look(table: string, column: string, values: readonly string[]): Promise<VersionedRow[][]> {
    const text = `SELECT ${column} AS value, id, row, xmin::text || ctid::text AS version FROM ${table} WHERE ${column} = ANY ($1::text[])`;
    const found = await this.#ask<VersionedRow & { value: string }>(text, [[...new Set(values)]]);
    const byValue = new Map(values.map((value) => [value, [] as VersionedRow[]]));
    for (const one of found) byValue.get(one.value)?.push(one);
    return values.map((value) => byValue.get(value) as VersionedRow[]);
  }
}
