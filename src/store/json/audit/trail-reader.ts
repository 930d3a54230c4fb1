import { type ChainState, isSealed, type SealedEntry } from '../../audit/audit-chain.ts';
import type { ManifestData } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { Journal } from '../journal/journal.ts';
import { entriesIn, type LogPosition } from '../journal/segments.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { listLog, readLog } from '../log/log-records.ts';
import { auditFormat, sealedOf } from './entry-record.ts';

/** An entry of a data folder, and its location. */
export interface FoundEntry {
  sealed: SealedEntry;
  file: string;
  /**
   * Offset of the entry's line, in bytes. `null` for an entry in the journal, where a record has
   * several entries.
   */
  offset: number | null;
}

/**
 * Yields the whole audit trail of a folder that nothing writes to. The day files come first, up to
 * their position, then the entries that only the journal has. Reports damaged lines to `onDamage`.
 * Skips files that retention has dropped but that still exist after a crash. Throws `store_damaged`
 * for a damaged journal.
 */
export async function* readTrail(
  context: PartContext,
  { marks, clean }: ManifestData,
  onDamage: (file: string, offset: number) => void,
): AsyncGenerator<FoundEntry> {
  const position = (marks.audit as LogFilesPosition | undefined) ?? auditFormat.start;
  const { file: last } = position;
  const { start } = (marks.chain as ChainState | undefined) ?? {};
  const log = await listLog(context, auditFormat, position);
  const names = log.names.filter(
    (name) =>
      last !== null && name <= last && (start === undefined || name.slice(0, 10) >= start.day),
  );
  for await (const { file, offset, head } of readLog({ ...log, names }, sealedOf, position)) {
    if (head) yield { sealed: head, file: `audit/${file}`, offset };
    else onDamage(`audit/${file}`, offset);
  }
  const found: FoundEntry[] = [];
  const journal = new Journal(context, (record) => {
    if (record.seq <= position.seq) return;
    for (const sealed of entriesIn(record).filter(isSealed))
      found.push({ sealed, file: 'journal', offset: null });
  });
  await journal.recover(marks.journal as LogPosition | undefined, clean);
  yield* found;
}
