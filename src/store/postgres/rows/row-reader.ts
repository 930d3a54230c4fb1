import { BoundedMap } from '../../../domain/bounded-map.ts';
import type { IndexOf, MultipleOf, Rows, TableName, UniqueOf } from '../../sections.ts';
import type { KeyHolder, Reader } from '../../store.ts';
import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';
import {
  hashedKey,
  keyColumn,
  memberColumn,
  multipleColumn,
  storableText,
  tableSchema,
} from './columns.ts';
import { lookUpLimits, unknownLookUpLimits, VersionedRows } from './versioned-rows.ts';

export function rowOf<T extends TableName>(stored: { row: string }): Rows[T] {
  return JSON.parse(stored.row) as Rows[T];
}

interface StoredKeyHolder {
  hash: string;
  key: string;
  device: string | null;
  screen: string | null;
}

const parsed = (row: string | null) => (row === null ? undefined : JSON.parse(row));

/** Minimum number of recently found credentials whose hashes are remembered. */
const knownHashes = 100_000;

/**
 * Reads committed rows outside of changes. Each caller gets its own parsed copy, which it may
 * modify.
 */
export class RowReader implements Reader {
  readonly #rows: VersionedRows;
  readonly #guard: () => void;
  readonly #keyHolders: Batcher<string, StoredKeyHolder | undefined>;
  /**
   * Hashes of keys and tokens found recently. Look-ups of other hashes have lower limits, so that
   * guessed credentials do not slow down TVs.
   */
  readonly #known = new BoundedMap<string, true>(knownHashes);
  readonly #unknown: {
    keyHolders: Batcher<string, StoredKeyHolder | undefined>;
    rows: VersionedRows;
  };

  /** @param guard throws if reading is no longer allowed */
  constructor(query: Query, rows: VersionedRows, guard: () => void) {
    this.#rows = rows;
    this.#guard = guard;
    const readKeyHolders = async (hashes: readonly string[]) => {
      const found = await query<StoredKeyHolder>(selectKeyHolders, [[...new Set(hashes)]]);
      const byHash = new Map(found.map((one) => [one.hash, one]));
      return hashes.map((hash) => byHash.get(hash));
    };
    this.#keyHolders = new Batcher(lookUpLimits, readKeyHolders);
    this.#unknown = {
      keyHolders: new Batcher(unknownLookUpLimits, readKeyHolders),
      rows: new VersionedRows(query, unknownLookUpLimits),
    };
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    this.#guard();
    const [stored] = await this.#rows.rows(tableSchema(table).name, 'id', [storableText(id)]);
    return stored && rowOf<T>(stored);
  }

  async find<T extends TableName>(
    table: T,
    index: UniqueOf<T>,
    key: string,
  ): Promise<Rows[T] | undefined> {
    this.#guard();
    const isToken = table === 'tokens' && index !== 'name';
    const rows = isToken && !this.#known.get(key) ? this.#unknown.rows : this.#rows;
    const [stored] = await rows.rows(tableSchema(table).name, keyColumn(index), [hashedKey(key)]);
    if (isToken) this.#remember(key, stored !== undefined);
    return stored && rowOf<T>(stored);
  }

  async select<T extends TableName>(
    table: T,
    index: IndexOf<T>,
    values: readonly string[],
  ): Promise<Rows[T][]> {
    this.#guard();
    const found = await this.#rows.rows(
      tableSchema(table).name,
      memberColumn(index),
      values.map(storableText),
    );
    return found.map((stored) => rowOf<T>(stored));
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    this.#guard();
    return this.#rows.count(tableSchema(table).name, memberColumn(index), storableText(value));
  }

  async ids<T extends TableName>(
    table: T,
    index: MultipleOf<T>,
    values: readonly string[],
  ): Promise<ReadonlySet<string>> {
    this.#guard();
    const { name } = tableSchema(table);
    const found = await this.#rows.ids(name, multipleColumn(index), values.map(hashedKey));
    return new Set(found.map(({ id }) => id));
  }

  async findByKeyHash(hash: string): Promise<KeyHolder | undefined> {
    this.#guard();
    const keyHolders = this.#known.get(hash) ? this.#keyHolders : this.#unknown.keyHolders;
    const found = await keyHolders.add(hashedKey(hash));
    this.#remember(hash, found !== undefined);
    return (
      found && {
        key: JSON.parse(found.key),
        device: parsed(found.device),
        screen: parsed(found.screen),
      }
    );
  }

  #remember(hash: string, isFound: boolean): void {
    if (isFound) this.#known.set(hash, true);
    else this.#known.delete(hash);
  }
}

const selectKeyHolders = `SELECT k.key_hash AS hash, k.row AS key, d.row AS device, s.row AS screen FROM signage.device_keys k
  LEFT JOIN signage.devices d ON d.id = k.device_id LEFT JOIN signage.screens s ON s.id = k.screen_id
  WHERE k.key_hash = ANY ($1::text[])`;
