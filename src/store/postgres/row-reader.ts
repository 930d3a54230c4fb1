import type { Rows, TableName } from '../../domain/records.ts';
import type { KeyBearer, Reader } from '../store.ts';
import type { IndexOf, UniqueOf } from '../tables.ts';
import type { Ask } from './ask.ts';
import { keptKey, keptText, keyColumn, memberColumn, shapes } from './columns.ts';
import { gathered } from './gathered.ts';

interface Kept {
  row: string;
}

/** A row as it was put. */
export function rowOf<T extends TableName>(kept: Kept): Rows[T] {
  return JSON.parse(kept.row) as Rows[T];
}

/** Reads rows, each by one statement on an index. */
export class RowReader implements Reader {
  protected readonly ask: Ask;

  constructor(ask: Ask) {
    this.ask = ask;
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    const [kept] = await this.ask<Kept>(`SELECT row FROM ${shapes[table].name} WHERE id = $1`, [keptText(id)]);
    return kept && rowOf<T>(kept);
  }

  async find<T extends TableName>(table: T, index: UniqueOf<T>, key: string): Promise<Rows[T] | undefined> {
    const [kept] = await this.ask<Kept>(`SELECT row FROM ${shapes[table].name} WHERE ${keyColumn(index)} = $1`, [keptKey(key)]);
    return kept && rowOf<T>(kept);
  }

  async select<T extends TableName>(table: T, index: IndexOf<T>, values: readonly string[]): Promise<Rows[T][]> {
    const text = `SELECT row FROM ${shapes[table].name} WHERE ${memberColumn(index)} = ANY ($1::text[]) ORDER BY id`;
    return (await this.ask<Kept>(text, [values.map(keptText)])).map((kept) => rowOf<T>(kept));
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    const text = `SELECT count(*) AS found FROM ${shapes[table].name} WHERE ${memberColumn(index)} = $1`;
    const [{ found }] = (await this.ask(text, [keptText(value)])) as [{ found: number }];
    return found;
  }

  async keyBearer(hash: string): Promise<KeyBearer | undefined> {
    const text = `SELECT k.row AS key, d.row AS device, s.row AS screen FROM signage.device_keys k
      LEFT JOIN signage.devices d ON d.id = k.device_id LEFT JOIN signage.screens s ON s.id = k.screen_id WHERE k.key_hash = $1`;
    const [found] = await this.ask<{ key: string; device: string | null; screen: string | null }>(text, [keptKey(hash)]);
    if (!found) return undefined;
    const { key, device, screen } = found;
    return {
      key: JSON.parse(key),
      device: device === null ? undefined : JSON.parse(device),
      screen: screen === null ? undefined : JSON.parse(screen),
    };
  }
}

/** Reads rows outside of any change: those that are asked for by id at the same time, together. */
export class GatheringReader extends RowReader {
  readonly #texts = new Map<TableName, (id: string) => Promise<string | undefined>>();

  override async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    const textOf = this.#texts.get(table) ?? gathered((ids) => this.#textsOf(table, ids));
    this.#texts.set(table, textOf);
    // Parsed for each caller: rows are nobody else's to change.
    const row = await textOf(keptText(id));
    return row === undefined ? undefined : rowOf<T>({ row });
  }

  async #textsOf(table: TableName, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.ask<{ id: string } & Kept>(`SELECT id, row FROM ${shapes[table].name} WHERE id = ANY ($1::text[])`, [ids]);
    return new Map(rows.map(({ id, row }) => [id, row]));
  }
}
