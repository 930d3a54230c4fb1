import { KnownHashes } from '../../../domain/known-hashes.ts';
import type { Rows, TableName } from '../../../domain/records/rows.ts';
import type { KeyHolder, Reader } from '../../store.ts';
import type { IndexOf, UniqueOf } from '../../tables.ts';
import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';
import { keptKey, keptText, keyColumn, memberColumn, shapes } from './columns.ts';
import { lookUps, strangersLookUps, VersionedRows } from './versioned-rows.ts';

/** A row as it was put. */
export function rowOf<T extends TableName>(kept: { row: string }): Rows[T] {
  return JSON.parse(kept.row) as Rows[T];
}

interface Bearer {
  hash: string;
  key: string;
  device: string | null;
  screen: string | null;
}

const parsed = (row: string | null) => (row === null ? undefined : JSON.parse(row));

/** Reads what is durable, outside of any change. Rows are parsed for each caller: they are nobody else's to change. */
export class RowReader implements Reader {
  readonly #rows: VersionedRows;
  readonly #guard: () => void;
  readonly #bearers: Batcher<string, Bearer | undefined>;
  /** Keys and tokens that were found lately. Others are looked up apart, on few connections: whoever makes them up must not hold up TVs. */
  readonly #known = new KnownHashes();
  readonly #strangers: { bearers: Batcher<string, Bearer | undefined>; rows: VersionedRows };

  /** `guard` throws when there is no reading any more. */
  constructor(ask: Query, rows: VersionedRows, guard: () => void) {
    this.#rows = rows;
    this.#guard = guard;
    const bearersOf = async (hashes: readonly string[]) => {
      const found = await ask<Bearer>(bearing, [[...new Set(hashes)]]);
      const byHash = new Map(found.map((one) => [one.hash, one]));
      return hashes.map((hash) => byHash.get(hash));
    };
    this.#bearers = new Batcher(lookUps, bearersOf);
    this.#strangers = {
      bearers: new Batcher(strangersLookUps, bearersOf),
      rows: new VersionedRows(ask, strangersLookUps),
    };
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    this.#guard();
    const [kept] = await this.#rows.rows(shapes[table].name, 'id', [keptText(id)]);
    return kept && rowOf<T>(kept);
  }

  async find<T extends TableName>(
    table: T,
    index: UniqueOf<T>,
    key: string,
  ): Promise<Rows[T] | undefined> {
    this.#guard();
    const isToken = table === 'tokens' && index === 'hash';
    const rows = isToken && !this.#known.has(key) ? this.#strangers.rows : this.#rows;
    const [kept] = await rows.rows(shapes[table].name, keyColumn(index), [keptKey(key)]);
    if (isToken) this.#note(key, kept !== undefined);
    return kept && rowOf<T>(kept);
  }

  async select<T extends TableName>(
    table: T,
    index: IndexOf<T>,
    values: readonly string[],
  ): Promise<Rows[T][]> {
    this.#guard();
    const found = await this.#rows.rows(
      shapes[table].name,
      memberColumn(index),
      values.map(keptText),
    );
    return found.map((kept) => rowOf<T>(kept));
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    this.#guard();
    return this.#rows.count(shapes[table].name, memberColumn(index), keptText(value));
  }

  async findByKeyHash(hash: string): Promise<KeyHolder | undefined> {
    this.#guard();
    const bearers = this.#known.has(hash) ? this.#bearers : this.#strangers.bearers;
    const found = await bearers.do(keptKey(hash));
    this.#note(hash, found !== undefined);
    return (
      found && {
        key: JSON.parse(found.key),
        device: parsed(found.device),
        screen: parsed(found.screen),
      }
    );
  }

  #note(hash: string, isFound: boolean): void {
    if (isFound) this.#known.add(hash);
    else this.#known.delete(hash);
  }
}

const bearing = `SELECT k.key_hash AS hash, k.row AS key, d.row AS device, s.row AS screen FROM signage.device_keys k
  LEFT JOIN signage.devices d ON d.id = k.device_id LEFT JOIN signage.screens s ON s.id = k.screen_id
  WHERE k.key_hash = ANY ($1::text[])`;
