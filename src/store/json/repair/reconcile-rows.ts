import type { TableName } from '../../../domain/records/rows.ts';
import { tableNames } from '../../tables.ts';
import type { DurableState } from '../journal/journal-replay.ts';
import { frameChange, segmentName } from '../journal/segments.ts';
import { pastDocument, screenOf } from '../rows/playlist-history.ts';
import { type InMemoryTable, rowDocument } from '../rows/row-documents.ts';
import { keysOf, type Row } from '../rows/table-index.ts';
import { type RepairContext, writeFile } from './repair-context.ts';
import type { SalvagedJournal } from './salvage-journal.ts';

type RowOp = ['put', TableName, Row] | ['del', TableName, string];

/**
 * Returns the last journal record that a damaged document contains, or `undefined` for an intact
 * document.
 */
type LastRecordIn = (document: string) => number | undefined;

/**
 * Reconciles the rows: restores rows that a damaged document lost but the journal has, and resolves
 * duplicate unique keys. Writes all changes as one new journal record.
 */
export async function reconcileRows(
  { into, log }: RepairContext,
  state: DurableState,
  journal: SalvagedJournal,
  lastRecordIn: LastRecordIn,
  epoch: number,
): Promise<void> {
  const ops = await lostRows(state, journal, lastRecordIn);
  if (ops.length > 0)
    log.add('documents', 'rows of damaged documents were taken from the journal', { lost: 0 });
  for (const op of ops)
    state.base.load(op[1], op[0] === 'put' ? op[2].id : op[2], op[0] === 'put' ? op[2] : null);
  for (const { table, loser, winner, index } of conflicts(state)) {
    log.add(
      'documents',
      `of two rows of ${table} with the same ${index} the older one was left out: ${loser.id} (${winner.id} stays)`,
      {
        lost: 1,
      },
    );
    ops.push(['del', table, loser.id]);
  }
  if (ops.length === 0) return;
  const seq = journal.end.seq + 1;
  const at = Math.max(journal.end.at, into.clock.now());
  await writeFile(
    into,
    `journal/${segmentName(seq, epoch)}`,
    frameChange({ seq, at }, JSON.stringify(ops)),
  );
}

/**
 * Returns the latest journal entries for rows of damaged documents. If the journal has a gap, a
 * later change may be missing. Then the result has only entries for lost rows, and entries newer
 * than the row's document.
 */
async function lostRows(
  state: DurableState,
  { records, hasGap }: SalvagedJournal,
  lastRecordIn: LastRecordIn,
): Promise<RowOp[]> {
  const latest = new Map<string, { op: RowOp; seq: number }>();
  for (const { seq, ops } of records) {
    for (const op of ops)
      if (op[0] !== 'audit')
        latest.set(`${op[1]}/${op[0] === 'put' ? op[2].id : op[2]}`, { op, seq });
  }
  const lost: RowOp[] = [];
  for (const { op, seq } of latest.values()) {
    const [, table] = op;
    const id = op[0] === 'put' ? op[2].id : op[2];
    const now: Row | undefined =
      table === 'pastPlaylists' ? await state.cold.get(id) : state.base.row(table, id);
    const row = op[0] === 'put' ? op[2] : now;
    const contains = row && lastRecordIn(documentOf(table, row));
    if (contains === undefined) continue;
    const isSame = op[0] === 'put' && now !== undefined && sorted(now) === sorted(op[2]);
    if (!isSame && (now === undefined || !hasGap || seq > contains)) lost.push(op);
  }
  return lost;
}

function documentOf(table: TableName, row: Row): string {
  return table === 'pastPlaylists'
    ? pastDocument(screenOf(row.id))
    : rowDocument(table as InMemoryTable, row);
}

/** Ignores the member order: documents put the id first, the journal does not. */
function sorted(row: Row): string {
  return JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface Conflict {
  table: TableName;
  index: string;
  winner: Row;
  loser: Row;
}

/**
 * Yields pairs of rows with the same unique key. Such pairs appear when the journal has lost a
 * change.
 */
function* conflicts(state: DurableState): Generator<Conflict> {
  for (const table of tableNames) {
    for (const [index, keyOf] of Object.entries(keysOf(table).unique)) {
      const holders = new Map<string, Row>();
      for (const id of [...state.base.all(table)]) {
        const row = state.base.row(table, id);
        const key = row && keyOf(row);
        if (!row || key === undefined) continue;
        const other = holders.get(key);
        const [winner, loser] = other && ageOf(other) >= ageOf(row) ? [other, row] : [row, other];
        holders.set(key, winner);
        if (loser) yield { table, index, winner, loser };
        if (loser) state.base.load(table, loser.id, null);
      }
    }
  }
}

function ageOf(row: Row): number {
  const { updatedAt, createdAt } = row as Row & { updatedAt?: number; createdAt?: number };
  return updatedAt ?? createdAt ?? 0;
}
