import type { SealedEntry } from '../audit/audit-chain.ts';
import { sectionOf, type TableName } from '../sections.ts';
import type { LastActivityTable } from './activity/last-activity.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import type { TrailChain } from './audit/trail-chain.ts';
import type { EventLog } from './events/event-log.ts';
import { changesIn, entriesIn, type JournalRecord } from './journal/segments.ts';
import { CommittedRows } from './rows/committed-rows.ts';
import { DiskRows } from './rows/disk-rows.ts';
import { RowDocuments } from './rows/row-documents.ts';
import type { RowWrite } from './rows/write-set.ts';

/** The effects of one journal record. */
export interface Durable {
  seq: number;
  changes: readonly RowWrite[];
  entries: readonly SealedEntry[];
}

/**
 * The state that results from the journal's records: in-memory rows, on-disk rows and the audit
 * trail.
 */
export class DurableState {
  readonly base = new CommittedRows();
  readonly documents: RowDocuments;
  readonly disk = new DiskRows();
  readonly #audit: AuditTrail;
  readonly #chain: TrailChain;
  readonly #lastActivity: LastActivityTable;
  readonly #events: EventLog;
  #seq = 0;

  constructor(
    trail: { audit: AuditTrail; chain: TrailChain },
    lastActivity: LastActivityTable,
    events: EventLog,
  ) {
    this.#audit = trail.audit;
    this.#chain = trail.chain;
    this.#lastActivity = lastActivity;
    this.#events = events;
    this.documents = new RowDocuments(this.base, () => this.#seq);
  }

  /** Applies a record that has become durable. */
  apply(durable: Durable): void {
    this.#apply(durable, (change) => this.base.apply(change));
  }

  /** Replays a record at start. Call `loaded` after the last record. */
  replay(record: JournalRecord): void {
    const { seq } = record;
    const durable = { seq, changes: changesIn(record), entries: entriesIn(record) };
    this.#apply(durable, ({ table, id, row }) => this.base.load(table, id, row));
  }

  /** Builds the indexes after all documents and records are loaded. */
  loaded(): void {
    this.base.index();
  }

  #apply({ seq, changes, entries }: Durable, applyToBase: (change: RowWrite) => void): void {
    this.#seq = seq;
    for (const change of changes) {
      const { table, id, row } = change;
      if (sectionOf(table).held === 'disk') this.disk.apply(seq, table, id, row);
      else {
        this.documents.changing(table, id, row);
        applyToBase(change);
      }
      if (row === null) this.#forget(table, id);
    }
    for (const sealed of entries) {
      this.#audit.add(seq, sealed);
      this.#chain.onDurable(sealed.link);
    }
  }

  /**
   * Deletes the activity of a deleted device or token. For a device, also deletes its idempotency
   * keys and sequence numbers.
   */
  #forget(table: TableName, id: string): void {
    if (table === 'tokens') this.#lastActivity.forget('token', id);
    if (table !== 'devices') return;
    this.#lastActivity.forget('device', id);
    this.#events.forget(id);
  }
}
