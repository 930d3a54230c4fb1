import { SignageError } from '../../../domain/error.ts';
import type { AuditEntry, Rows, TableName } from '../../../domain/records/rows.ts';
import type { KeyHolder, Tx } from '../../store.ts';
import { type IndexOf, tables, type UniqueOf } from '../../tables.ts';
import {
  auditing,
  type Check,
  deleting,
  putting,
  type Step,
  stillCounted,
  stillFree,
  stillSeen,
} from './change-steps.ts';
import { keptKey, keptText, keyColumn, memberColumn, shapes } from './columns.ts';
import type { VersionedRow, VersionedRows } from './versioned-rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows of every table
type AnyRow = any;
/** A row that was put: the caller may change his, and what is read of it. */
type Own = { id: string; row: string; keys: readonly string[] };

const keyName = (table: TableName, index: string, key: string) => `${table}/${index}/${key}`;
const uniqueOf = (table: TableName) =>
  Object.entries(tables[table].unique) as [string, (row: AnyRow) => string | undefined][];

/**
 * One change under way. It holds nothing in the database: what it reads is noted with its version, what it puts is kept here, and in the end the database is
 * given both: it makes the change if all that was read is still as it was, and nothing of it otherwise.
 */
export class Change implements Tx {
  readonly now: number;
  /** What to wake when it is made. */
  readonly topics = new Set<string>();
  /** The first read that failed: after it nothing can be made of the change. */
  failure: unknown;
  readonly #rows: VersionedRows;
  readonly #looksAhead: boolean;
  readonly #checks: Check[] = [];
  /** What it does, in its order: keys may be given on from one row to another. */
  readonly #deeds: Step[] = [];
  /** The rows that were put, by id; `null` for one that was deleted. */
  readonly #own = new Map<TableName, Map<string, Own | null>>();
  /** Who of them has which unique key. */
  readonly #ownKeys = new Map<string, Own>();
  #over = false;

  /** Who `looksAhead` looks at each put whether its keys are taken; otherwise that is found out in the end, and the change is run again. */
  constructor(now: number, rows: VersionedRows, { looksAhead }: { looksAhead: boolean }) {
    this.now = now;
    this.#rows = rows;
    this.#looksAhead = looksAhead;
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    this.#refuseLateCall();
    const own = this.#ownOf(table).get(id);
    if (own !== undefined) return own === null ? undefined : JSON.parse(own.row);
    const [seen] = await this.#see(table, 'id', [keptText(id)]);
    return seen && JSON.parse(seen.row);
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
    const wanted = new Set(values.map(keptText));
    const found = await this.#see(table, memberColumn(index), [...wanted]);
    const own = this.#ownOf(table);
    const others = found.filter(({ id }) => !own.has(id)).map(({ row }): AnyRow => JSON.parse(row));
    const fitting = this.#ownRows(table).filter(
      (row) => typeof row[index] === 'string' && wanted.has(keptText(row[index])),
    );
    return [...others, ...fitting].sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    this.#refuseLateCall();
    if (this.#ownOf(table).size > 0) return (await this.select(table, index, [value])).length;
    const [column, kept] = [memberColumn(index), keptText(value)];
    const count = await this.#read(this.#rows.count(shapes[table].name, column, kept));
    this.#checks.push(stillCounted(table, column, kept, count));
    return count;
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
        (this.#looksAhead ? await this.#holder(table, index, key) : undefined);
      if (holder && holder.id !== row.id) {
        throw new SignageError('conflict', `Another row of ${table} has the same ${index}.`, {
          existingId: holder.id,
        });
      }
    }
    const own = { id: row.id, row: text, keys: keys.map(({ name }) => name) };
    this.#stage(table, row.id, own, putting(table, text));
    for (const name of own.keys) this.#ownKeys.set(name, own);
  }

  async delete(table: TableName, id: string): Promise<void> {
    this.#stage(table, id, null, deleting(table, id));
  }

  async audit(entry: AuditEntry): Promise<void> {
    this.#refuseLateCall();
    this.#deeds.push(auditing(entry));
  }

  /** No call comes after. */
  end(): void {
    this.#over = true;
  }

  /** The first row that it read: most changes begin with the row that they are about. The caller's token, read before it, is shared by too many. */
  get beginning(): string {
    const { place, vals } = this.#checks.find((check) => check.place !== 'tokens') ??
      this.#checks[0] ?? { place: '', vals: [] };
    return `${place} ${vals}`;
  }

  /** What must be as it was for the change to have read one state. */
  checks(): Check[] {
    return this.#checks;
  }

  /** All there is to do: the checks first. */
  steps(): Step[] {
    return [
      ...this.#checks,
      ...[...this.#own.keys()].flatMap((table) => this.#stillFree(table)),
      ...this.#deeds,
    ];
  }

  /** Nobody else has the keys of the rows that are put. */
  #stillFree(table: TableName): Step[] {
    const ours = [...this.#ownOf(table).keys()].map(keptText);
    const put = this.#deeds.flatMap((step) =>
      step.what === 'put' && step.table === table ? [step.columns] : [],
    );
    return shapes[table].unique.flatMap((column) => {
      const keys = put.flatMap(({ [column]: key }) => (typeof key === 'string' ? [key] : []));
      return keys.length === 0 ? [] : [stillFree(table, column, keys, ours)];
    });
  }

  #stage(table: TableName, id: string, own: Own | null, step: Step): void {
    this.#refuseLateCall();
    this.#deeds.push(step);
    if (table === 'codes') this.topics.add(`codes/${id}`);
    for (const name of this.#ownOf(table).get(id)?.keys ?? []) this.#ownKeys.delete(name);
    this.#own.set(table, this.#ownOf(table).set(id, own));
  }

  #ownOf(table: TableName): Map<string, Own | null> {
    return this.#own.get(table) ?? new Map();
  }

  #ownRows(table: TableName): AnyRow[] {
    return [...this.#ownOf(table).values()].flatMap((own) =>
      own === null ? [] : [JSON.parse(own.row)],
    );
  }

  async #holder(
    table: TableName,
    index: string,
    key: string,
  ): Promise<Pick<Own, 'id' | 'row'> | undefined> {
    this.#refuseLateCall();
    const own = this.#ownKeys.get(keyName(table, index, key));
    if (own) return own;
    const [seen] = await this.#see(table, keyColumn(index), [keptKey(key)]);
    return seen && !this.#ownOf(table).has(seen.id) ? seen : undefined;
  }

  async #see(table: TableName, column: string, values: readonly string[]): Promise<VersionedRow[]> {
    const seen = await this.#read(this.#rows.rows(shapes[table].name, column, values));
    this.#checks.push(stillSeen(table, column, values, seen));
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

  /** A call that nobody awaited must not get lost without a word. */
  #refuseLateCall(): void {
    if (this.#over) throw new Error('the change is over: each call of its tx must be awaited');
  }
}
