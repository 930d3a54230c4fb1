import type { Playlist, TableName } from '../../../domain/records/rows.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { LastActivityTable } from '../activity/last-activity.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { TrailChain } from '../audit/trail-chain.ts';
import type { EventLog } from '../events/event-log.ts';
import { CommittedRows } from '../rows/committed-rows.ts';
import type { PlaylistHistory } from '../rows/playlist-history.ts';
import { RowDocuments } from '../rows/row-documents.ts';
import { deepFreeze } from '../rows/table-index.ts';
import type { Change } from '../rows/write-set.ts';
import type { JournalRecord } from './segments.ts';

/** The effects of one journal record. */
export interface Durable {
  seq: number;
  changes: readonly Change[];
  entries: readonly SealedEntry[];
}

/**
 * The state that results from the journal's records: in-memory rows, on-disk rows and the audit
 * trail.
 */
export class DurableState {
  readonly base = new CommittedRows();
  readonly documents: RowDocuments;
  readonly cold: PlaylistHistory;
  readonly #audit: AuditTrail;
  readonly #chain: TrailChain;
  readonly #lastActivity: LastActivityTable;
  readonly #events: EventLog;
  #seq = 0;

  constructor(
    onDisk: PlaylistHistory,
    trail: { audit: AuditTrail; chain: TrailChain },
    lastActivity: LastActivityTable,
    events: EventLog,
  ) {
    this.cold = onDisk;
    this.#audit = trail.audit;
    this.#chain = trail.chain;
    this.#lastActivity = lastActivity;
    this.#events = events;
    this.documents = new RowDocuments(this.base, () => this.#seq);
  }

  /** Applies a record that has become durable. */
  apply({ seq, changes, entries }: Durable): void {
    this.#seq = seq;
    for (const change of changes)
      this.#applyChange(change, (inMemory) => this.base.apply(inMemory));
    for (const sealed of entries) this.#addEntry(seq, sealed);
  }

  /** Replays a record at start. Call `loaded` after the last record. */
  replay({ seq, ops }: JournalRecord): void {
    this.#seq = seq;
    for (const op of ops) {
      if (op[0] === 'audit')
        this.#addEntry(seq, { entry: deepFreeze(op[1]), ...(op[2] && { link: op[2] }) });
      else {
        const [id, row] = op[0] === 'put' ? [op[2].id, op[2]] : [op[2], null];
        this.#applyChange({ table: op[1], id, row }, (inMemory) =>
          this.base.load(inMemory.table, inMemory.id, inMemory.row),
        );
      }
    }
  }

  /** Builds the indexes after all documents and records are loaded. */
  loaded(): void {
    this.base.index();
  }

  #addEntry(seq: number, { entry, link }: SealedEntry): void {
    this.#audit.add(seq, entry, link);
    this.#chain.onDurable(link);
  }

  #applyChange(change: Change, applyToBase: (change: Change) => void): void {
    const { table, id, row } = change;
    if (table === 'pastPlaylists') this.cold.apply(this.#seq, id, row as Playlist | null);
    else {
      this.documents.changing(table, id, row);
      applyToBase(change);
    }
    if (row === null) this.#forget(table, id);
  }

  /** Deletes the activity and idempotency keys of a deleted device or token. */
  #forget(table: TableName, id: string): void {
    if (table === 'tokens') this.#lastActivity.forget('token', id);
    if (table !== 'devices') return;
    this.#lastActivity.forget('device', id);
    this.#events.forget(id);
  }
}
