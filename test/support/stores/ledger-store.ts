import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { TableName } from '../../../src/store/sections.ts';
import type { Store } from '../../../src/store/store.ts';

/** A committed change: a row put or deleted, an audit entry, or a batch of events. */
export interface Change {
  table: TableName | 'events' | 'audit';
  /** The new row. `undefined` for deletions and audit entries. */
  row: object | undefined;
}

/** Returns a store that records its committed changes. */
export function withLedger(store: Store): { store: Store; changes: Change[] } {
  const changes: Change[] = [];
  const write: Store['write'] = async (change) => {
    let staged: Change[] = [];
    const result = await store.write((tx) => {
      staged = [];
      const put: typeof tx.put = (table, row) => {
        staged.push({ table, row });
        return tx.put(table, row);
      };
      const remove: typeof tx.delete = (table, id) => {
        staged.push({ table, row: undefined });
        return tx.delete(table, id);
      };
      const audit: typeof tx.audit = (entry) => {
        // The service writes denials by itself, some time after the answer.
        if (entry.action !== 'access.denied') staged.push({ table: 'audit', row: undefined });
        return tx.audit(entry);
      };
      return change(decorateStore(tx, { put, delete: remove, audit }));
    });
    changes.push(...staged);
    return result;
  };
  const appendBatch: Store['appendBatch'] = async (batch) => {
    const kept = await store.appendBatch(batch);
    changes.push({ table: 'events', row: { tenantId: batch.tenantId } });
    return kept;
  };
  return { store: decorateStore(store, { write, appendBatch }), changes };
}
