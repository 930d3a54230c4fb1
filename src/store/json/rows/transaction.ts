import { SignageError } from '../../../domain/error.ts';
import type { AuditEntry } from '../../../domain/records/audit.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import { type Rows, sectionOf, type TableName } from '../../sections.ts';
import type { Tx } from '../../store.ts';
import type { ChainDraft } from '../audit/trail-chain.ts';
import type { CommittedRows } from './committed-rows.ts';
import type { DiskRows } from './disk-rows.ts';
import { RowView } from './row-view.ts';
import { deepFreeze, type TableRow } from './table-index.ts';
import { type RowWrite, WriteSet } from './write-set.ts';

/**
 * A transaction: reads its own writes, then the staged changes of earlier transactions, then the
 * committed rows. Its writes stay in its own write set until it ends.
 */
export class Transaction extends RowView implements Tx {
  readonly now: number;
  readonly stamp: number;
  readonly changes: RowWrite[] = [];
  readonly entries: SealedEntry[] = [];
  /** The operations as JSON, in order, for the journal. */
  readonly ops: string[] = [];
  /** Links the audit entries of this change. */
  readonly draft: ChainDraft;
  readonly #own: WriteSet;
  #isOver = false;

  constructor(
    { now, stamp }: Pick<Tx, 'now' | 'stamp'>,
    base: CommittedRows,
    disk: DiskRows,
    staged: WriteSet,
    draft: ChainDraft,
  ) {
    const own = new WriteSet();
    super(base, disk, [own, staged], () => this.#refuseLateCall());
    this.now = now;
    this.stamp = stamp;
    this.draft = draft;
    this.#own = own;
  }

  async put<T extends TableName>(table: T, row: Rows[T]): Promise<void> {
    await this.yieldIfDue();
    const text = JSON.stringify(row);
    // A frozen copy, equal to the row that a restart would read.
    const copy = deepFreeze<TableRow>(JSON.parse(text));
    this.#refuseTakenKeys(table, copy);
    this.#stage({ table, id: copy.id, row: copy }, `["put","${table}",${text}]`);
  }

  async delete(table: TableName, id: string): Promise<void> {
    // Reading a row on disk takes longer than deleting a row that may not exist.
    const isOnDisk = sectionOf(table).held === 'disk';
    if (!isOnDisk && (await this.get(table, id)) === undefined) return;
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
    this.#isOver = true;
  }

  #stage(change: RowWrite, op: string): void {
    this.guard();
    this.#own.add(change);
    this.changes.push(change);
    this.ops.push(op);
  }

  /** Throws after the end of the transaction, so that a call that was not awaited fails visibly. */
  #refuseLateCall(): void {
    if (this.#isOver) throw new Error('the transaction has ended: await every call of tx');
  }

  #refuseTakenKeys(table: TableName, row: TableRow): void {
    for (const [index, keyOf] of Object.entries(sectionOf(table).unique)) {
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
