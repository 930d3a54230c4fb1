import { dayMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { largest } from '../../../domain/numbers/extremes.ts';
import type { DocumentEntry } from '../checkpoint/document-file.ts';
import { type EventLogPosition, eventFormat, headOf } from '../events/event-record.ts';
import { journalFormat, type LogPosition, recordHead } from '../journal/segments.ts';
import { dayFile, dayStart } from '../log/day-files.ts';
import { type LogFiles, listLog, readLog } from '../log/log-records.ts';
import { dataFormat, type ManifestData, manifestCopy, manifestName } from '../manifest.ts';
import { isEventDocument } from './event-documents.ts';
import type { RepairContext } from './repair-context.ts';

const documentPattern = /^((?:rows|past|marks|rings|rollups|sequences)-.+)\.(\d+)\.json$/;
const headerPattern = /^\{"seq":(\d+),"rows":\{$/;

interface Version {
  name: string;
  number: number;
  file: string;
}

/**
 * Rebuilds the manifest when both the manifest and its copy are lost. The new manifest names the
 * newest version of each document. With its log positions, the repair reads everything that the
 * logs still have. Without checksums, each document is treated as damaged, and its readable lines
 * are kept. Newer rows in the journal take precedence. The repair then rebuilds the event counts.
 * Throws `store_damaged` when nothing can be recovered.
 */
export async function rebuildManifest(context: RepairContext): Promise<ManifestData> {
  const { from, log } = context;
  const versions = await newestVersions(context);
  const segments = await listLog(from, journalFormat);
  const events = await eventLogPosition(context);
  if (versions.length === 0 && segments.names.length === 0 && events.last === 0)
    throw nothingToRecover(from.directory);
  const what =
    'it and its copy cannot be read: it was rebuilt from the other files, and no checksum tells whether these are intact';
  log.add(manifestName, what, { lost: null });
  const seqs = await seqsOf(context, versions);
  const journal = await journalPosition(segments, largest(seqs.values(), 0));
  const entry = ({ name, file }: Version): DocumentEntry => {
    return {
      file,
      size: -1,
      crc: '',
      seq: isEventDocument(name) ? events.last : (seqs.get(name) ?? journal.seq),
    };
  };
  return {
    format: dataFormat,
    epoch: largest(
      segments.names.map((name) => Number(name.slice(17, 23))),
      1,
    ),
    checkpoint: largest(
      versions.map(({ number }) => number),
      0,
    ),
    clean: false,
    documents: Object.fromEntries(versions.map((version) => [version.name, entry(version)])),
    marks: { journal, events: events.position, audit: { file: null, size: 0, seq: journal.seq } },
  };
}

function nothingToRecover(directory: string): SignageError {
  const message = `Neither ${manifestName} nor ${manifestCopy} in ${directory} can be read, and there are no documents, journal or events to rebuild it from. Restore a backup (signage data restore).`;
  return new SignageError('store_damaged', message);
}

/**
 * Returns the newest version of each document. A checkpoint writes a new version, then deletes the
 * old one.
 */
async function newestVersions({ from, log }: RepairContext): Promise<Version[]> {
  const newest = new Map<string, Version>();
  const found = (await from.disk.list(`${from.directory}/documents`)).flatMap((file): Version[] => {
    const [, name, number] = documentPattern.exec(file) ?? [];
    return name === undefined ? [] : [{ name, number: Number(number), file }];
  });
  for (const version of found.sort((one, other) => one.number - other.number)) {
    const older = newest.get(version.name);
    if (older) log.add(`documents/${older.file}`, `it was left out: ${version.file} is newer`);
    newest.set(version.name, version);
  }
  return [...newest.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Returns the number of the last journal record that each row document contains. Leaves out
 * documents whose first line is unreadable.
 */
async function seqsOf(
  { from }: RepairContext,
  versions: readonly Version[],
): Promise<Map<string, number>> {
  const seqs = new Map<string, number>();
  for (const { name, file } of versions) {
    if (!name.startsWith('rows-')) continue;
    const bytes = await from.disk.readFile(`${from.directory}/documents/${file}`);
    const [, seq] =
      headerPattern.exec(bytes.toString('latin1', 0, Math.max(0, bytes.indexOf(0x0a)))) ?? [];
    if (seq !== undefined) seqs.set(name, Number(seq));
  }
  return seqs;
}

/**
 * Returns the journal position after the newest record in any document. `reconcileRows` later
 * restores older changes that other documents lack.
 */
async function journalPosition(segments: LogFiles, seq: number): Promise<LogPosition> {
  let at = 0;
  for await (const { head } of readLog(segments, recordHead))
    if (head && head.seq <= seq) at = Math.max(at, head.at);
  return { file: null, size: 0, seq, at };
}

/**
 * Returns the position before the first remaining batch, and the number of the last batch. Batches
 * before this position count as deleted by retention. The next start applies the batches that
 * documents lack.
 */
async function eventLogPosition({
  from,
}: RepairContext): Promise<{ position: EventLogPosition; last: number }> {
  const log = await listLog(from, eventFormat);
  let first: number | undefined;
  let last = 0;
  for await (const { head } of readLog(log, headOf)) {
    if (!head) continue;
    first ??= head.seq;
    last = Math.max(last, head.seq);
  }
  if (first === undefined || first === 1) return { position: eventFormat.start, last };
  const before = dayFile(dayStart(log.names[0] ?? '') - dayMs);
  return { position: { file: before, size: 0, seq: first - 1, receivedAt: 0, gone: true }, last };
}
