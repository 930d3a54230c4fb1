import type { Device, DeviceKey, Screen } from '../../../domain/records/rows.ts';
import {
  type IndexOf,
  type MultipleOf,
  type Rows,
  sectionOf,
  type TableName,
  type UniqueOf,
} from '../../sections.ts';
import type { KeyHolder, Reader } from '../../store.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import type { CommittedRows } from './committed-rows.ts';
import type { DiskRows } from './disk-rows.ts';
import type { TableRow } from './table-index.ts';
import type { RowLookup, WriteSet } from './write-set.ts';

/** Time between two yields, in milliseconds. A change or an index may concern a whole fleet. */
const sliceMs = 5;

/** Reads rows through write sets, newest first, down to the committed rows. */
export class RowView implements Reader {
  protected readonly guard: () => void;
  readonly #base: CommittedRows;
  readonly #disk: DiskRows;
  readonly #writeSets: readonly WriteSet[];
  readonly #lookups: readonly RowLookup[];
  #sliceEndMs = performance.now() + sliceMs;

  /** @param guard throws if reading is no longer allowed */
  constructor(
    base: CommittedRows,
    disk: DiskRows,
    writeSets: readonly WriteSet[],
    guard: () => void,
  ) {
    this.#base = base;
    this.#disk = disk;
    this.#writeSets = writeSets;
    this.#lookups = [...writeSets, base];
    this.guard = guard;
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    this.guard();
    const row = this.#newest(table, id);
    if (row === undefined && isOnDisk(table)) return this.#disk.get(table, id);
    return (row ?? undefined) as Rows[T] | undefined;
  }

  async find<T extends TableName>(
    table: T,
    index: UniqueOf<T>,
    key: string,
  ): Promise<Rows[T] | undefined> {
    this.guard();
    return this.holder(table, index, key) as Rows[T] | undefined;
  }

  async select<T extends TableName>(
    table: T,
    index: IndexOf<T>,
    values: readonly string[],
  ): Promise<Rows[T][]> {
    this.guard();
    const wanted = new Set<unknown>(values);
    const found = isOnDisk(table)
      ? await this.#selectOnDisk(table, values)
      : this.#candidates(table, index, values);
    const rows = found.filter((row) => wanted.has(member(row, index)));
    return rows.sort((one, other) => (one.id < other.id ? -1 : 1)) as unknown as Rows[T][];
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    this.guard();
    if (isOnDisk(table)) return (await this.select(table, index, [value])).length;
    const counts = (row: TableRow | null | undefined) =>
      row && member(row, index) === value ? 1 : 0;
    let count = this.#base.ids(table, index, value).length;
    for (const id of this.#changedIds(table))
      count += counts(this.inMemoryRow(table, id)) - counts(this.#base.row(table, id));
    return count;
  }

  async ids<T extends TableName>(
    table: T,
    index: MultipleOf<T>,
    values: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const value of values) {
      await this.yieldIfDue();
      this.guard();
      for (const lookup of this.#lookups)
        for (const id of lookup.ids(table, index, value)) found.add(id);
    }
    // Newer write sets shadow what older ones and the committed rows have.
    const valuesOf = sectionOf(table).multiple[index];
    for (const id of this.#changedIds(table)) {
      const row = found.has(id) ? this.inMemoryRow(table, id) : undefined;
      if (!row || !valuesOf?.(row).some((value) => values.includes(value))) found.delete(id);
    }
    return found;
  }

  protected async yieldIfDue(): Promise<void> {
    if (performance.now() < this.#sliceEndMs) return;
    await yieldToEventLoop();
    this.#sliceEndMs = performance.now() + sliceMs;
  }

  async findByKeyHash(hash: string): Promise<KeyHolder | undefined> {
    this.guard();
    if (this.#writeSets.length === 0) return this.#base.keyHolder(hash);
    const key = this.holder('deviceKeys', 'hash', hash) as DeviceKey | undefined;
    if (!key) return undefined;
    const device = this.inMemoryRow('devices', key.deviceId) as Device | undefined;
    return { key, device, screen: this.inMemoryRow('screens', key.screenId) as Screen | undefined };
  }

  /** Returns the row that has `key` in the unique index `index`. */
  holder(table: TableName, index: string, key: string): TableRow | undefined {
    if (this.#writeSets.length === 0) return this.#base.holder(table, index, key);
    const keyOf = sectionOf(table).unique[index];
    for (const lookup of this.#lookups) {
      const candidate = lookup.holder(table, index, key);
      const row = candidate && this.inMemoryRow(table, candidate.id);
      if (row && keyOf?.(row) === key) return row;
    }
    return undefined;
  }

  /** Returns the newest version of a row of an in-memory table. */
  inMemoryRow(table: TableName, id: string): TableRow | undefined {
    return this.#newest(table, id) ?? undefined;
  }

  #changedIds(table: TableName): Set<string> {
    return new Set(
      this.#writeSets.flatMap((writeSet) =>
        [...writeSet.changes(table)].map((change) => change.id),
      ),
    );
  }

  #candidates(table: TableName, index: string, values: readonly string[]): TableRow[] {
    const ids = new Set(
      this.#lookups.flatMap((lookup) => values.flatMap((value) => lookup.ids(table, index, value))),
    );
    return [...ids].flatMap((id) => this.inMemoryRow(table, id) ?? []);
  }

  async #selectOnDisk(table: TableName, values: readonly string[]): Promise<TableRow[]> {
    // Copy the changes before reading the disk. A change that becomes durable meanwhile is removed
    // from its write set.
    const changes = this.#writeSets
      .toReversed()
      .flatMap((writeSet) => [...writeSet.changes(table)]);
    const rows = new Map<string, TableRow | null>(
      (await this.#disk.select(table, values)).map((row) => [row.id, row as TableRow]),
    );
    for (const { id, row } of changes) rows.set(id, row);
    return [...rows.values()].filter((row) => row !== null);
  }

  #newest(table: TableName, id: string): TableRow | null | undefined {
    for (const writeSet of this.#writeSets) {
      const row = writeSet.row(table, id);
      if (row !== undefined) return row;
    }
    return this.#base.row(table, id);
  }
}

function member(row: TableRow, name: string): unknown {
  return (row as unknown as Record<string, unknown>)[name];
}

const isOnDisk = (table: TableName) => sectionOf(table).held === 'disk';
