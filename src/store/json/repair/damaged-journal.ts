import { smallest } from '../../../domain/numbers/extremes.ts';
import type { ManifestData } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { type JournalRecord, journalFormat, recordHead } from '../journal/segments.ts';
import type { FoundDocument } from './damaged-documents.ts';
import type { FolderFindings } from './finding.ts';
import { filesOf, linesOf, NumberedLog } from './numbered-log.ts';

/** The undamaged records of a journal, in order. */
export interface FoundJournal {
  records: JournalRecord[];
  /** The current version of each document has all changes of its rows up to this record. */
  contained: number;
  /** The journal lacks at least one record up to this number. */
  lastMissing: number;
}

export async function readJournal(
  context: PartContext,
  manifest: ManifestData | undefined,
  documents: readonly FoundDocument[],
  findings: FolderFindings,
): Promise<FoundJournal> {
  const files = await filesOf(context, journalFormat, manifest, findings);
  const { log, position } = files;
  const known = documents
    .filter(({ name }) => /^(rows|disk)-/.test(name))
    .reduce((seq, { current }) => Math.max(seq, current.entry.seq), position.seq);
  let contained = manifest ? position.seq : checkpointedSeq(documents);
  const records: JournalRecord[] = [];
  const options = {
    // Without a manifest, the records before the first one count as contained in the documents.
    before: (first: number) => (manifest ? Math.min(first - 1, contained) : first - 1),
    get alsoIn() {
      return contained;
    },
  };
  const numbers = new NumberedLog('changes', findings, options);
  let place = 'journal';
  for await (const found of linesOf(log, recordHead, position, files, findings)) {
    const { path, line, offset, head, part } = found;
    place = path;
    if (!head || head.seq <= (records.at(-1)?.seq ?? 0)) {
      numbers.damaged(path, offset, part);
      continue;
    }
    if (records.length === 0 && !manifest) contained = Math.max(contained, head.seq - 1);
    numbers.found(head.seq, path, offset);
    records.push(JSON.parse(line.toString()) as JournalRecord);
  }
  numbers.end(known, place);
  return { records, contained, lastMissing: numbers.lastMissing };
}

/**
 * Returns a record that the last checkpoint before a crash contained. A checkpoint renders all
 * changed documents after the journal's position.
 */
function checkpointedSeq(documents: readonly FoundDocument[]): number {
  const versions = documents
    .filter(({ name, current }) => name.startsWith('rows-') && !current.problem)
    .map(({ current }) => current.entry);
  const numberOf = (file: string) => Number(file.split('.').at(-2));
  const newest = versions.reduce((number, { file }) => Math.max(number, numberOf(file)), 0);
  const seqs = versions.filter(({ file }) => numberOf(file) === newest).map(({ seq }) => seq);
  return seqs.length === 0 ? 0 : smallest(seqs, seqs[0] as number);
}
