import { SignageError } from '../../../domain/error.ts';
import type { AuditEntry, Rows, TableName } from '../../../domain/records/rows.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { Tx } from '../../store.ts';
import type { ChainDraft } from '../audit/trail-chain.ts';
import type { OnDiskTable } from '../parts.ts';
import { deepFreeze } from './deep-freeze.ts';
import { type Change, type CommittedRows, WriteSet } from './layer.ts';
import { RowView } from './row-view.ts';
import { keysOf, type Row } from './table-index.ts';

/** One change under way, over all that earlier changes have staged. What it does stays in its own overlay until it is over. */
export class Transaction extends RowView implements Tx {
  readonly now: number;
  readonly changes: Change[] = [];
  readonly entries: SealedEntry[] = [];
  /** The same as JSON, in the order in which it was done: what the journal keeps. */
  readonly ops: string[] = [];
  /** Links the entries of this change. */
  readonly draft: ChainDraft;
  readonly #own: WriteSet;
  #over = false;

  constructor(
    now: number,
    base: CommittedRows,
    cold: OnDiskTable,
    staged: WriteSet,
    draft: ChainDraft,
  ) {
    const own = new WriteSet();
    super(base, cold, [own, staged], () => this.#refuseLateCall());
    this.now = now;
    this.draft = draft;
    this.#own = own;
  }

  async put<T extends TableName>(table: T, row: Rows[T]): Promise<void> {
    const text = JSON.stringify(row);
    // Exactly what a restart would read back, and nobody else's to change.
    const kept = deepFreeze<Row>(JSON.parse(text));
    this.#refuseTakenKeys(table, kept);
    this.#stage({ table, id: kept.id, row: kept }, `["put","${table}",${text}]`);
  }

  async delete(table: TableName, id: string): Promise<void> {
    if ((await this.get(table, id)) === undefined) return;
    this.#stage({ table, id, row: null }, `["del","${table}",${JSON.stringify(id)}]`);
  }

  async audit(entry: AuditEntry): Promise<void> {
    this.guard();
    const text = JSON.stringify(entry);
    const link = this.draft.link(text);
    this.entries.push({ entry: deepFreeze(JSON.parse(text)), link });
    this.ops.push(`["audit",${text},${JSON.stringify(link)}]`);
  }

  end(): void {
    this.#over = true;
  }

  #stage(change: Change, op: string): void {
    this.guard();
    this.#own.add(change);
    this.changes.push(change);
    this.ops.push(op);
  }

  /** A call that nobody awaited must not get lost without a word. */
  #refuseLateCall(): void {
    if (this.#over) throw new Error('the change is over: each call of its tx must be awaited');
  }

  #refuseTakenKeys(table: TableName, row: Row): void {
    for (const [index, keyOf] of Object.entries(keysOf(table).unique)) {
      const key = keyOf(row);
      const holder = key === undefined ? undefined : this.holder(table, index, key);
      if (holder && holder.id !== row.id) {
        throw new SignageError('conflict', `Another row of ${table} has the same ${index}.`, {
          existingId: holder.id,
        });
      }
    }
  }
}
