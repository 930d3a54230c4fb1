import type { TableName } from '../../src/domain/records/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { overriding } from './planted-store.ts';

/**
 * One thing that was changed for good: a row that was put, one that was deleted, an audit entry, or
 * a batch of events.
 */
export interface Change {
  table: TableName | 'events' | 'audit';
  /** As it was put; `undefined` of what was deleted, and of audit entries. */
  row: object | undefined;
}

/** A store that writes down what is changed in it, as far as the change was made for good. */
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
        // The service records refusals by itself, some time after the answer.
        if (entry.action !== 'access.denied') staged.push({ table: 'audit', row: undefined });
        return tx.audit(entry);
      };
      return change(overriding(tx, { put, delete: remove, audit }));
    });
    changes.push(...staged);
    return result;
  };
  const appendBatch: Store['appendBatch'] = async (batch) => {
    const kept = await store.appendBatch(batch);
    changes.push({ table: 'events', row: { tenantId: batch.tenantId } });
    return kept;
  };
  return { store: overriding(store, { write, appendBatch }), changes };
}
