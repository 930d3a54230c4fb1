import type { Playlist, TableName } from '../../../domain/records/rows.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { TrailChain } from '../audit/trail-chain.ts';
import type { AuditTrail, EventLog, LastActivityPart, OnDiskTable } from '../parts.ts';
import { deepFreeze } from '../rows/deep-freeze.ts';
import { type Change, CommittedRows } from '../rows/layer.ts';
import { RowDocuments } from '../rows/row-documents.ts';
import type { JournalRecord } from './segments.ts';

/** What one record of the journal has done. */
export interface Durable {
  seq: number;
  changes: readonly Change[];
  entries: readonly SealedEntry[];
}

/** All that the journal's records make up: rows in memory, rows on disk, the audit trail. */
export class DurableState {
  readonly base = new CommittedRows();
  readonly documents: RowDocuments;
  readonly cold: OnDiskTable;
  readonly #audit: AuditTrail;
  readonly #chain: TrailChain;
  readonly #marks: LastActivityPart;
  readonly #events: EventLog;
  #seq = 0;

  constructor(
    cold: OnDiskTable,
    trail: { audit: AuditTrail; chain: TrailChain },
    marks: LastActivityPart,
    events: EventLog,
  ) {
    this.cold = cold;
    this.#audit = trail.audit;
    this.#chain = trail.chain;
    this.#marks = marks;
    this.#events = events;
    this.documents = new RowDocuments(this.base, () => this.#seq);
  }

  /** A record has become durable. */
  apply({ seq, changes, entries }: Durable): void {
    this.#seq = seq;
    for (const change of changes) this.#take(change, (hot) => this.base.apply(hot));
    for (const one of entries) this.#addEntry(seq, one);
  }

  /** A record is read at start; `loaded` follows when all are in. */
  replay({ seq, ops }: JournalRecord): void {
    this.#seq = seq;
    for (const op of ops) {
      if (op[0] === 'audit')
        this.#addEntry(seq, { entry: deepFreeze(op[1]), ...(op[2] && { link: op[2] }) });
      else {
        const [id, row] = op[0] === 'put' ? [op[2].id, op[2]] : [op[2], null];
        this.#take({ table: op[1], id, row }, (hot) => this.base.load(hot.table, hot.id, hot.row));
      }
    }
  }

  /** All documents and records have come. */
  loaded(): void {
    this.documents.loaded();
    this.base.index();
  }

  #addEntry(seq: number, { entry, link }: SealedEntry): void {
    this.#audit.add(seq, entry, link);
    this.#chain.landed(link);
  }

  #take(change: Change, intoBase: (change: Change) => void): void {
    const { table, id, row } = change;
    if (table === 'pastPlaylists') this.cold.apply(this.#seq, id, row as Playlist | null);
    else {
      this.documents.changing(table, id, row);
      intoBase(change);
    }
    if (row === null) this.#forget(table, id);
  }

  /** What is kept of a device or a token beside its row goes with it. */
  #forget(table: TableName, id: string): void {
    if (table === 'tokens') this.#marks.forget('token', id);
    if (table !== 'devices') return;
    this.#marks.forget('device', id);
    this.#events.forget(id);
  }
}
