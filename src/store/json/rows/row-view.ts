import type { MaybePromise } from '../../../domain/maybe-promise.ts';
import type { Device, DeviceKey, Rows, Screen, TableName } from '../../../domain/records/rows.ts';
import type { KeyHolder, Reader } from '../../store.ts';
import { type IndexOf, tables, type UniqueOf } from '../../tables.ts';
import type { OnDiskTable } from '../parts.ts';
import type { CommittedRows, RowLayer, WriteSet } from './layer.ts';
import { keysOf, type Row } from './table-index.ts';

/** Rows as they are seen through overlays, topmost first, down to what is durable. */
export class RowView implements Reader {
  protected readonly guard: () => void;
  readonly #base: CommittedRows;
  readonly #cold: OnDiskTable;
  readonly #overlays: readonly WriteSet[];
  readonly #layers: readonly RowLayer[];

  /** `guard` throws when there is no reading any more. */
  constructor(
    base: CommittedRows,
    cold: OnDiskTable,
    overlays: readonly WriteSet[],
    guard: () => void,
  ) {
    this.#base = base;
    this.#cold = cold;
    this.#overlays = overlays;
    this.#layers = [...overlays, base];
    this.guard = guard;
  }

  get<T extends TableName>(table: T, id: string): MaybePromise<Rows[T] | undefined> {
    this.guard();
    const row = this.#topmost(table, id);
    if (row === undefined && isCold(table))
      return this.#cold.get(id) as Promise<Rows[T] | undefined>;
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
    const found = isCold(table)
      ? await this.#selectCold(table, values)
      : this.#candidates(table, index, values);
    const rows = found.filter((row) => wanted.has(member(row, index)));
    return rows.sort((one, other) => (one.id < other.id ? -1 : 1)) as unknown as Rows[T][];
  }

  async count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number> {
    this.guard();
    if (isCold(table)) return (await this.select(table, index, [value])).length;
    const counts = (row: Row | null | undefined) => (row && member(row, index) === value ? 1 : 0);
    let count = this.#base.ids(table, index, value).length;
    for (const id of this.#overlaid(table))
      count += counts(this.hot(table, id)) - counts(this.#base.row(table, id));
    return count;
  }

  findByKeyHash(hash: string): KeyHolder | undefined {
    this.guard();
    const key = this.holder('deviceKeys', 'hash', hash) as DeviceKey | undefined;
    if (!key) return undefined;
    const device = this.hot('devices', key.deviceId) as Device | undefined;
    return { key, device, screen: this.hot('screens', key.screenId) as Screen | undefined };
  }

  /** The row that has a unique key. */
  holder(table: TableName, index: string, key: string): Row | undefined {
    if (this.#overlays.length === 0) return this.#base.holder(table, index, key);
    const keyOf = keysOf(table).unique[index];
    for (const layer of this.#layers) {
      const candidate = layer.holder(table, index, key);
      const row = candidate && this.hot(table, candidate.id);
      if (row && keyOf?.(row) === key) return row;
    }
    return undefined;
  }

  /** The topmost row, as far as it is in memory. */
  hot(table: TableName, id: string): Row | undefined {
    return this.#topmost(table, id) ?? undefined;
  }

  #overlaid(table: TableName): Set<string> {
    return new Set(
      this.#overlays.flatMap((overlay) => [...overlay.changes(table)].map((change) => change.id)),
    );
  }

  #candidates(table: TableName, index: string, values: readonly string[]): Row[] {
    const ids = new Set(
      this.#layers.flatMap((layer) => values.flatMap((value) => layer.ids(table, index, value))),
    );
    return [...ids].flatMap((id) => this.hot(table, id) ?? []);
  }

  async #selectCold(table: TableName, values: readonly string[]): Promise<Row[]> {
    // Taken before the disk is read: a change that becomes durable meanwhile leaves its overlay.
    const changes = this.#overlays.toReversed().flatMap((overlay) => [...overlay.changes(table)]);
    const rows = new Map<string, Row | null>(
      (await this.#cold.select(values)).map((row) => [row.id, row]),
    );
    for (const { id, row } of changes) rows.set(id, row);
    return [...rows.values()].filter((row) => row !== null);
  }

  #topmost(table: TableName, id: string): Row | null | undefined {
    for (const layer of this.#layers) {
      const row = layer.row(table, id);
      if (row !== undefined) return row;
    }
    return undefined;
  }
}

function member(row: Row, name: string): unknown {
  return (row as unknown as Record<string, unknown>)[name];
}

function isCold(table: TableName): boolean {
  return 'cold' in tables[table];
}
