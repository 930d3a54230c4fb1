import type { AuditEntry, Playlist, TableName } from '../../domain/records.ts';
import { frozen } from './frozen.ts';
import type { JournalRecord } from './journal-segments.ts';
import { Base, type Change } from './layer.ts';
import type { AuditTrail, ColdTable, EventLog, Marks } from './parts.ts';
import { TableDocuments } from './table-documents.ts';

/** What one record of the journal has done. */
export interface Durable {
  seq: number;
  changes: readonly Change[];
  entries: readonly AuditEntry[];
}

/** All that the journal's records make up: rows in memory, rows on disk, the audit trail. */
export class DurableState {
  readonly base = new Base();
  readonly documents: TableDocuments;
  readonly cold: ColdTable;
  readonly #audit: AuditTrail;
  readonly #marks: Marks;
  readonly #events: EventLog;
  #seq = 0;

  constructor(cold: ColdTable, audit: AuditTrail, marks: Marks, events: EventLog) {
    this.cold = cold;
    this.#audit = audit;
    this.#marks = marks;
    this.#events = events;
    this.documents = new TableDocuments(this.base, () => this.#seq);
  }

  /** A record has become durable. */
  apply({ seq, changes, entries }: Durable): void {
    this.#seq = seq;
    for (const change of changes) this.#take(change, (hot) => this.base.apply(hot));
    for (const entry of entries) this.#audit.add(seq, entry);
  }

  /** A record is read at start; `loaded` follows when all are in. */
  replay({ seq, ops }: JournalRecord): void {
    this.#seq = seq;
    for (const op of ops) {
      if (op[0] === 'audit') this.#audit.add(seq, frozen(op[1]));
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
