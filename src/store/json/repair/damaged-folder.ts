import type { Random } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { ChainKey } from '../../audit/audit-chain.ts';
import type { DumpSource } from '../../dump/dump.ts';
import type { Records, SectionName } from '../../dump/records.ts';
import { sectionOf, tableNames } from '../../sections.ts';
import { LastActivityTable } from '../activity/last-activity.ts';
import { DocumentFile } from '../checkpoint/document-file.ts';
import {
  type ManifestData,
  manifestCopy,
  manifestName,
  readRecordFile,
  refuseOtherFormat,
} from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { readSecret } from '../secret.ts';
import { documentReaders } from '../state-source.ts';
import {
  documentInMemory,
  type FoundDocument,
  readDocuments,
  readVersion,
  undamagedLines,
} from './damaged-documents.ts';
import { DamagedEvents, isEventDocument } from './damaged-events.ts';
import { readJournal } from './damaged-journal.ts';
import { DamagedRows } from './damaged-rows.ts';
import { DamagedTrail } from './damaged-trail.ts';
import type { FolderFindings } from './finding.ts';
import { isRecordLine } from './record-line.ts';
import { revokeUnproved } from './unproved-credentials.ts';

interface ReadOptions {
  random: Random;
  /** Keeps device keys, tokens and pairing codes that may have been revoked. */
  keepUnproved?: boolean;
}

const isRowDocument = (name: string) => /^(rows|disk)-/.test(name);

/**
 * Reads all undamaged lines of a data folder, and reports what is damaged or missing. Returns the
 * state that they make: of each row the newest version that is there. Throws `store_damaged` when
 * nothing can be recovered.
 */
export async function readDamagedFolder(
  context: PartContext,
  findings: FolderFindings,
  { random, keepUnproved = false }: ReadOptions,
): Promise<{ source: DumpSource; manifest: ManifestData | undefined }> {
  const manifest = await readManifests(context, findings);
  const oldSecret = await findSecret(context, manifest, findings);
  const secret = oldSecret ?? random(32);
  const rows = new DamagedRows(context);
  const documents = await readDocuments(context, manifest, (text, version, offset) =>
    isRowDocument(version.name)
      ? rows.take(text, version, offset, !version.isOther)
      : isRecordLine(text, version),
  );
  const rowDocuments = documents.filter(({ name }) => isRowDocument(name));
  await readOlderRows(context, rowDocuments, rows);
  const journal = await readJournal(context, manifest, documents, findings);
  rows.applyJournal(journal, documents, manifest !== undefined, findings);
  for (const document of rowDocuments) reportRowDocument(document, rows, findings);
  rows.resolveConflicts(findings);
  const events = new DamagedEvents(context, manifest, findings);
  const isDevice = (id: string) => rows.all('devices').has(id);
  await events.read(
    documents.filter(({ name }) => isEventDocument(name)),
    isDevice,
  );
  if (documents.length === 0 && journal.records.length === 0 && events.isEmpty)
    throw nothingToRecover(context.directory);
  const writer = oldSecret ? undefined : Buffer.from(random(8)).toString('hex');
  const trail = new DamagedTrail(context, manifest, journal.records, new ChainKey(secret), writer);
  const chain = await trail.read(findings);
  const activity = await readActivity(context, documents, findings);
  if (!keepUnproved) revokeUnproved(rows, context.clock.now(), findings);
  const { head, start, gaps } = chain;
  const server: Records['server'] = {
    secret: Buffer.from(secret).toString('hex'),
    log: events.last,
    chain: { head, start, gaps },
  };
  const made = documentReaders(events.owners, activity);
  const { idempotency, sequences, impressions, plays, marks } = made;
  const readers: { [S in SectionName]?: () => Iterable<unknown> | AsyncIterable<unknown> } = {
    server: () => [server],
    batches: () => events.batches(),
    idempotency: () => without(idempotency(), (one) => rows.isDeleted('devices', one.deviceId)),
    impressions,
    plays,
    sequences: () => without(sequences(), (one) => rows.isDeleted('devices', one.deviceId)),
    audit: () => trail.entries(),
    marks: () => without(marks(), ({ kind, id }) => rows.isDeleted(`${kind}s`, id)),
    ...Object.fromEntries(tableNames.map((table) => [table, () => rows.read(table)])),
  };
  const source: DumpSource = { read: (section) => readers[section]?.() as never };
  return { source, manifest };
}

async function* without<R>(
  records: Iterable<R> | AsyncIterable<R>,
  isLeftOut: (record: R) => boolean,
): AsyncGenerator<R> {
  for await (const record of records) if (!isLeftOut(record)) yield record;
}

function nothingToRecover(directory: string): SignageError {
  const message = `${directory} has no undamaged documents, journal or events. Restore a backup (signage data restore).`;
  return new SignageError('store_damaged', message);
}

/** Returns the manifest, or its copy if only the copy is readable. */
async function readManifests(
  { disk, directory }: PartContext,
  findings: FolderFindings,
): Promise<ManifestData | undefined> {
  /** Returns `undefined` for a damaged manifest, `null` for a missing one. */
  const read = (name: string) =>
    readRecordFile<ManifestData>(disk, `${directory}/${name}`).catch((error: unknown) => {
      if (!(error instanceof SignageError)) throw error;
      return undefined;
    });
  const problem = 'its contents were changed or damaged';
  const manifest = await read(manifestName);
  const copy = await read(manifestCopy);
  const usable = manifest ?? copy ?? undefined;
  if (usable) refuseOtherFormat(usable, directory);
  if (!manifest) {
    const what = manifest === null ? 'the file is missing' : problem;
    const more = '; without it and its copy, missing files cannot be noticed';
    findings.damage(manifestName, usable ? what : what + more, { lost: usable ? 0 : null });
  }
  // Only a store that was started and stopped must have a copy. A crash may come before the first
  // copy is written.
  if (copy === undefined && usable) findings.damage(manifestCopy, problem);
  else if (copy === null && manifest?.clean && !manifest.backup)
    findings.damage(manifestCopy, 'the file is missing');
  if (!manifest && copy) findings.note(manifestCopy, 'this copy was used instead');
  return usable;
}

async function findSecret(
  context: PartContext,
  manifest: ManifestData | undefined,
  findings: FolderFindings,
): Promise<Uint8Array | undefined> {
  return readSecret(context, manifest?.secret).catch((error: unknown) => {
    if (!(error instanceof SignageError)) throw error;
    findings.damage(
      'secret',
      'it is missing, changed or damaged. A repair makes a new one: unused pairing codes, and repeats of a registration or key rotation, are rejected from then on; bound TVs stay bound; the audit trail starts a new chain',
      { section: 'server', lost: 1 },
    );
    return undefined;
  });
}

/** Reads the other versions of damaged documents, which may have lines that these lack. */
async function readOlderRows(
  context: PartContext,
  documents: readonly FoundDocument[],
  rows: DamagedRows,
): Promise<void> {
  for (const { name, others } of documents)
    for (const file of others)
      await readVersion(context, name, file, undefined, (text, version, offset) =>
        rows.take(text, version, offset, false),
      );
}

function reportRowDocument(
  document: FoundDocument,
  rows: DamagedRows,
  findings: FolderFindings,
): void {
  const { name, current } = document;
  const { problem, expected, found, isOther, path } = current;
  if (!problem) return;
  const { proved, unproved } = rows.recovered(document);
  const isKnown = expected !== undefined && unproved === 0 && !isOther;
  const lost = isKnown ? Math.max(0, expected - found - proved) : null;
  const recovered = proved > 0 ? `; ${proved} rows are in other files` : '';
  const older = unproved > 0 ? `; ${unproved} rows are there, perhaps in an older version` : '';
  const how = problem.what + recovered + older;
  // Only rows that are not held parsed have documents of their own.
  const table = tableNames.find((one) => name.split('-')[1] === one);
  const section = table && sectionOf(table).held !== 'parsed' ? table : null;
  findings.damage(path, how, {
    section: lost === 0 ? null : section,
    offset: problem.offset,
    lost,
  });
}

async function readActivity(
  context: PartContext,
  documents: readonly FoundDocument[],
  findings: FolderFindings,
): Promise<LastActivityTable> {
  const activity = new LastActivityTable(context.clock);
  for (const document of documents.filter(({ name }) => name.startsWith('marks-'))) {
    const { name, current } = document;
    const { problem, expected, found, path, entry } = current;
    const file = new DocumentFile(context.disk, `${context.directory}/documents`, entry);
    const whole = problem && documentInMemory(0, await undamagedLines(context, document));
    await activity.load(name, whole ?? file);
    if (!problem) continue;
    const lost = expected === undefined ? null : Math.max(0, expected - found);
    findings.damage(path, problem.what, { section: 'marks', offset: problem.offset, lost });
  }
  return activity;
}
