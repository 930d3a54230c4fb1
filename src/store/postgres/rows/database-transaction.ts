import { SignageError } from '../../../domain/error.ts';
import type { AuditEntry } from '../../../domain/records/audit.ts';
import {
  type IndexOf,
  type MultipleOf,
  type Rows,
  sectionOf,
  type TableName,
  type UniqueOf,
} from '../../sections.ts';
import type { KeyHolder, Tx } from '../../store.ts';
import {
  hashedKey,
  keyColumn,
  memberColumn,
  multipleColumn,
  storableText,
  tableSchema,
} from './columns.ts';
import {
  auditColumns,
  checkCount,
  checkUnchanged,
  deleteStep,
  putStep,
  type Step,
  type VersionCheck,
} from './transaction-steps.ts';
import type { VersionedRow, VersionedRows } from './versioned-rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows of every table
type AnyRow = any;
/**
 * A row written by this change. It is kept as JSON text, because callers may modify their objects.
 */
type OwnRow = { id: string; row: string; keys: readonly string[] };

const keyName = (table: TableName, index: string, key: string) => `${table}/${index}/${key}`;
const uniqueOf = (table: TableName) => Object.entries(sectionOf(table).unique);

/**
 * A transaction with optimistic concurrency control. It holds no locks in the database: it records
 * the version of each row read and buffers its writes. At commit the database applies the writes
 * only if all rows read are unchanged.
 */
export class DatabaseTransaction implements Tx {
  readonly now: number;
  readonly stamp: number;
  /** Topics to notify after the commit. */
  readonly topics = new Set<string>();
  /** Error of the first failed read. The change cannot be committed after a failed read. */
  failure: unknown;
  readonly #rows: VersionedRows;
  readonly #checksKeysEarly: boolean;
  readonly #checks: VersionCheck[] = [];
  /** Writes of this change, in order, because a key may move from one row to another. */
  readonly #writes: Step[] = [];
  /** Rows written by this change, by id; `null` for a deleted row. */
  readonly #ownRows = new Map<TableName, Map<string, OwnRow | null>>();
  /** Rows written by this change, by unique key. */
  readonly #ownKeys = new Map<string, OwnRow>();
  #isOver = false;

  /**
   * @param checksKeysEarly whether each `put` checks for taken keys. Otherwise the commit detects
   * them and the change is retried.
   */
  constructor(
    { now, stamp }: Pick<Tx, 'now' | 'stamp'>,
    rows: VersionedRows,
    { checksKeysEarly }: { checksKeysEarly: boolean },
  ) {
    this.now = now;
    this.stamp = stamp;
    this.#rows = rows;
    this.#checksKeysEarly = checksKeysEarly;
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    this.#refuseLateCall();
    const own = this.#ownRowsOf(table).get(id);
    if (own !== undefined) return own === null ? undefined : JSON.parse(own.row);
    const [row] = await this.#readVersioned(table, 'id', [storableText(id)]);
    return row && JSON.parse(row.row);
  }

  async find<T extends TableName>(
    table: T,
    index: UniqueOf<T>,
    key: string,
  ): Promise<Rows[T] | undefined> {
    const holder = await this.#holder(table, index, key);
    return holder && JSON.parse(holder.row);
  }

  async select<T extends TableName>(
    table: T,
    index: IndexOf<T>,
    values: readonly string[],
  ): Promise<Rows[T][]> {
    this.#refuseLateCall();
    const wanted = new Set(values.map(storableText));
    const found = await this.#readVersioned(table, memberColumn(index), [...wanted]);
    const own = this.#ownRowsOf(table);
    const others = found.filter(({ id }) => !own.has(id)).map(({ row }): AnyRow => JSON.parse(row));
    const ownMatches = this.#parsedOwnRows(table).filter(
      (row) => typeof row[index] === 'string' && wanted.has(storableText(row[index])),
    );
    return [...others, ...ownMatches].sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    this.#refuseLateCall();
    if (this.#ownRowsOf(table).size > 0) return (await this.select(table, index, [value])).length;
    const column = memberColumn(index);
    const stored = storableText(value);
    const count = await this.#read(this.#rows.count(tableSchema(table).name, column, stored));
    this.#checks.push(checkCount(table, column, stored, count));
    return count;
  }

  async ids<T extends TableName>(
    table: T,
    index: MultipleOf<T>,
    values: readonly string[],
  ): Promise<ReadonlySet<string>> {
    this.#refuseLateCall();
    const column = multipleColumn(index);
    const keys = values.map(hashedKey);
    const seen = await this.#read(this.#rows.ids(tableSchema(table).name, column, keys));
    this.#checks.push(checkUnchanged(table, column, keys, seen));
    const own = this.#ownRowsOf(table);
    const found = new Set(seen.map(({ id }) => id).filter((id) => !own.has(id)));
    const valuesOf = sectionOf(table).multiple[index];
    for (const row of this.#parsedOwnRows(table))
      if (valuesOf?.(row).some((value) => values.includes(value))) found.add(row.id);
    return found;
  }

  async findByKeyHash(hash: string): Promise<KeyHolder | undefined> {
    const key = await this.find('deviceKeys', 'hash', hash);
    if (!key) return undefined;
    const [device, screen] = await Promise.all([
      this.get('devices', key.deviceId),
      this.get('screens', key.screenId),
    ]);
    return { key, device, screen };
  }

  async put<T extends TableName>(table: T, row: Rows[T]): Promise<void> {
    this.#refuseLateCall();
    const text = JSON.stringify(row);
    const keys = uniqueOf(table).flatMap(([index, keyOf]) => {
      const key = keyOf(row);
      return key === undefined ? [] : [{ index, key, name: keyName(table, index, key) }];
    });
    for (const { index, key, name } of keys) {
      const holder =
        this.#ownKeys.get(name) ??
        (this.#checksKeysEarly ? await this.#holder(table, index, key) : undefined);
      if (holder && holder.id !== row.id) {
        throw new SignageError('conflict', `Another row of ${table} has the same ${index}.`, {
          existingId: holder.id,
        });
      }
    }
    const own = { id: row.id, row: text, keys: keys.map(({ name }) => name) };
    this.#stage(table, row.id, own, putStep(table, text));
    for (const name of own.keys) this.#ownKeys.set(name, own);
  }

  async delete(table: TableName, id: string): Promise<void> {
    this.#stage(table, id, null, deleteStep(table, id));
  }

  async audit(entry: AuditEntry): Promise<void> {
    this.#refuseLateCall();
    this.#writes.push({ what: 'audit', columns: auditColumns(entry) });
  }

  /** Ends the change. Later calls throw. */
  end(): void {
    this.#isOver = true;
  }

  /** Returns the checks with which a commit proves that all reads saw the same state. */
  checks(): VersionCheck[] {
    return this.#checks;
  }

  /** Returns all steps: checks first, then writes. */
  steps(): Step[] {
    return [
      ...this.#checks,
      ...[...this.#ownRows.keys()].flatMap((table) => this.#checkKeysFree(table)),
      ...this.#writes,
    ];
  }

  /** Returns checks that the unique keys written by this change are free: no other row has them. */
  #checkKeysFree(table: TableName): Step[] {
    const ours = [...this.#ownRowsOf(table).keys()].map(storableText);
    const put = this.#writes.flatMap((step) =>
      step.what === 'put' && step.table === table ? [step.columns] : [],
    );
    return tableSchema(table).unique.flatMap((column) => {
      const keys = put.flatMap(({ [column]: key }) => (typeof key === 'string' ? [key] : []));
      return keys.length === 0 ? [] : [checkUnchanged(table, column, keys, [], ours)];
    });
  }

  #stage(table: TableName, id: string, own: OwnRow | null, step: Step): void {
    this.#refuseLateCall();
    this.#writes.push(step);
    const topic = sectionOf(table).topic?.(id);
    if (topic !== undefined) this.topics.add(topic);
    for (const name of this.#ownRowsOf(table).get(id)?.keys ?? []) this.#ownKeys.delete(name);
    this.#ownRows.set(table, this.#ownRowsOf(table).set(id, own));
  }

  #ownRowsOf(table: TableName): Map<string, OwnRow | null> {
    return this.#ownRows.get(table) ?? new Map();
  }

  #parsedOwnRows(table: TableName): AnyRow[] {
    return [...this.#ownRowsOf(table).values()].flatMap((own) =>
      own === null ? [] : [JSON.parse(own.row)],
    );
  }

  async #holder(
    table: TableName,
    index: string,
    key: string,
  ): Promise<Pick<OwnRow, 'id' | 'row'> | undefined> {
    this.#refuseLateCall();
    const own = this.#ownKeys.get(keyName(table, index, key));
    if (own) return own;
    const [seen] = await this.#readVersioned(table, keyColumn(index), [hashedKey(key)]);
    return seen && !this.#ownRowsOf(table).has(seen.id) ? seen : undefined;
  }

  async #readVersioned(
    table: TableName,
    column: string,
    values: readonly string[],
  ): Promise<VersionedRow[]> {
    const seen = await this.#read(this.#rows.rows(tableSchema(table).name, column, values));
    this.#checks.push(checkUnchanged(table, column, values, seen));
    return seen;
  }

  async #read<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }

  /** Throws after the end of the change, so that a call that was not awaited fails visibly. */
  #refuseLateCall(): void {
    if (this.#isOver) throw new Error('the transaction has ended: await every call of tx');
  }
}
