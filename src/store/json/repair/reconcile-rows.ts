import { sectionOf, type TableName, tableNames } from '../../sections.ts';
import { writeFully } from '../disk/file-system.ts';
import { writeNewFile } from '../disk/replace-file.ts';
import type { DurableState } from '../journal/journal-replay.ts';
import { changesIn, frameChange, segmentName } from '../journal/segments.ts';
import type { Row } from '../rows/table-index.ts';
import type { RowWrite } from '../rows/write-set.ts';
import type { RepairContext } from './repair-context.ts';
import type { SalvagedJournal } from './salvage-journal.ts';

/**
 * Returns the number of the last journal record that a damaged document contains, or `undefined`
 * for an intact document.
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
  const changes = await lostRows(state, journal, lastRecordIn);
  if (changes.length > 0)
    log.add('documents', 'rows of damaged documents were taken from the journal', { lost: 0 });
  for (const { table, id, row } of changes) state.base.load(table, id, row);
  for (const { table, loser, winner, index } of conflicts(state)) {
    log.add(
      'documents',
      `of two rows of ${table} with the same ${index} the older one was left out: ${loser.id} (${winner.id} stays)`,
      { lost: 1 },
    );
    changes.push({ table, id: loser.id, row: null });
  }
  if (changes.length === 0) return;
  const ops = changes.map(({ table, id, row }) => (row ? ['put', table, row] : ['del', table, id]));
  const seq = journal.end.seq + 1;
  const at = Math.max(journal.end.at, into.clock.now());
  const path = `${into.directory}/journal/${segmentName(seq, epoch)}`;
  await writeNewFile(into.disk, path, (file) =>
    writeFully(file, frameChange({ seq, at }, JSON.stringify(ops))),
  );
}

/**
 * Returns the changes that restore rows of damaged documents to their latest state in the journal.
 * If the journal has a gap, it may lack a later change of a row. A change is then returned only if
 * the row is lost, or if the change is newer than the row's document.
 */
async function lostRows(
  state: DurableState,
  { records, hasGap }: SalvagedJournal,
  lastRecordIn: LastRecordIn,
): Promise<RowWrite[]> {
  const latest = new Map<string, RowWrite & { seq: number }>();
  for (const record of records)
    for (const change of changesIn(record))
      latest.set(`${change.table}/${change.id}`, { ...change, seq: record.seq });
  const lost: RowWrite[] = [];
  for (const { table, id, row, seq } of latest.values()) {
    const now: Row | undefined =
      table === 'pastPlaylists' ? await state.pastPlaylists.get(id) : state.base.row(table, id);
    const known = row ?? now;
    const contains = known && lastRecordIn(sectionOf(table).document(known));
    if (contains === undefined) continue;
    const isSame = row !== null && now !== undefined && sorted(now) === sorted(row);
    if (!isSame && (now === undefined || !hasGap || seq > contains)) lost.push({ table, id, row });
  }
  return lost;
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
 * change. Removes each loser from `state`.
 */
function* conflicts(state: DurableState): Generator<Conflict> {
  for (const table of tableNames) {
    for (const [index, keyOf] of Object.entries(sectionOf(table).unique)) {
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
