import { type ChainState, isSealed, type SealedEntry } from '../../audit/audit-chain.ts';
import { type LogPosition, SegmentReader } from '../journal/segments.ts';
import { isDayFile, type LogFilesPosition } from '../log/day-files.ts';
import { readFrames } from '../log/frame.ts';
import type { ManifestData } from '../manifest.ts';
import type { PartContext } from '../parts.ts';
import { sealedOf } from './pages.ts';

/** An entry of a data folder, and its location. */
export interface FoundEntry extends SealedEntry {
  file: string;
  /** In bytes. `null` in the journal, where a record has several entries. */
  offset: number | null;
}

const journalStart: LogPosition = { file: null, size: 0, seq: 0, at: 0 };
const filesStart: LogFilesPosition & { seq: number } = { file: null, size: 0, seq: 0 };

/**
 * Yields the whole audit trail of a folder that nothing writes to: the day files up to their
 * position, then the entries that only the journal has. Reports damaged lines to `onDamage`. Skips
 * days that retention dropped but a crash left on disk. Throws `store_damaged` for a damaged
 * journal.
 */
export async function* readTrail(
  { disk, directory }: PartContext,
  { marks, clean }: ManifestData,
  onDamage: (file: string, offset: number) => void = () => {},
): AsyncGenerator<FoundEntry> {
  const {
    file: last,
    size,
    gone,
    seq: lastFiledSeq,
  } = (marks.audit as typeof filesStart | undefined) ?? filesStart;
  const { start } = (marks.chain as ChainState | undefined) ?? {};
  const isKept = (name: string) =>
    last !== null &&
    name <= last &&
    !gone &&
    (start === undefined || name.slice(0, 10) >= start.day);
  for (const name of (await disk.list(`${directory}/audit`)).filter(isDayFile).sort()) {
    if (!isKept(name)) continue;
    for await (const { line, offset, whole } of readFrames(disk, `${directory}/audit/${name}`)) {
      if (name === last && offset >= size) break;
      const sealed = whole ? sealedOf(line) : undefined;
      if (sealed) yield { ...sealed, file: `audit/${name}`, offset };
      else onDamage(`audit/${name}`, offset);
    }
  }
  yield* await entriesOnlyInJournal(
    { disk, directory },
    (marks.journal as LogPosition | undefined) ?? journalStart,
    { lastFiledSeq, clean },
  );
}

async function entriesOnlyInJournal(
  { disk, directory }: Pick<PartContext, 'disk' | 'directory'>,
  position: LogPosition,
  { lastFiledSeq, clean }: { lastFiledSeq: number; clean: boolean },
): Promise<FoundEntry[]> {
  const found: FoundEntry[] = [];
  await new SegmentReader(disk, `${directory}/journal`, position).read(clean, ({ seq, ops }) => {
    if (seq <= lastFiledSeq) return;
    for (const op of ops) {
      if (op[0] !== 'audit') continue;
      const sealed = { entry: op[1], ...(op[2] && { link: op[2] }) };
      if (isSealed(sealed)) found.push({ ...sealed, file: 'journal', offset: null });
    }
  });
  return found;
}
