import type { Rows, Store, TableName, Tx } from '../store/store.ts';
import { decorateStore } from './store-decorator.ts';

/**
 * A row that a change wrote or deleted. `row` is the written row. Of deleted playlists and configs,
 * it is the row before.
 */
export type RowChange = {
  [T in TableName]: { table: T; id: string; row: Rows[T] | undefined; isDeleted: boolean };
}[TableName];

/**
 * Gets the rows of a change before its caller gets the result. Also gets the rows of a failed
 * change, because it may have been committed.
 */
type ChangeListener = (rows: readonly RowChange[]) => void;

/** Kind of a write to the store: a change of records, or a batch of events. */
export type StoreWriteKind = 'change' | 'events';

export interface ObservedStore {
  /** The given store. Use it in place of the given store. */
  readonly store: Store;
  /** Adds a listener of the changes that this instance makes. */
  onChange(listener: ChangeListener): void;
}

function recordingTx(tx: Tx, rows: RowChange[]): Tx {
  return decorateStore(tx, {
    async put(table, row) {
      await tx.put(table, row);
      rows.push({ table, id: row.id, row, isDeleted: false } as RowChange);
    },
    async delete(table, id) {
      // The copies of these rows are found by their tenant.
      const hasCopy = table === 'playlists' || table === 'configs';
      const row = hasCopy ? await tx.get(table, id) : undefined;
      await tx.delete(table, id);
      rows.push({ table, id, row, isDeleted: true } as RowChange);
    },
  });
}

/**
 * Observes a store: measures its writes, and reports the rows of each change.
 *
 * @param onWrite gets milliseconds, also for failed writes
 */
export function observedStore(
  store: Store,
  onWrite: (kind: StoreWriteKind, ms: number) => void = () => {},
): ObservedStore {
  const listeners: ChangeListener[] = [];

  async function timed<T>(kind: StoreWriteKind, write: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    try {
      return await write();
    } finally {
      onWrite(kind, performance.now() - startedMs);
    }
  }

  async function write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    let rows: RowChange[] = [];
    try {
      return await timed('change', () =>
        store.write((tx) => {
          // Begins anew, because the store may call `change` again.
          rows = [];
          return change(recordingTx(tx, rows));
        }),
      );
    } finally {
      if (rows.length > 0) for (const listener of listeners) listener(rows);
    }
  }

  return {
    store: decorateStore(store, {
      write,
      appendBatch: (batch) => timed('events', () => store.appendBatch(batch)),
    }),
    onChange: (listener) => void listeners.push(listener),
  };
}
