import { iso, type Random } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { auditFormat } from '../audit/entry-record.ts';
import { type DocumentEntry, writeDocument } from '../checkpoint/document-file.ts';
import { writeFully } from '../disk/file-system.ts';
import { replaceContents, writeNewFile } from '../disk/replace-file.ts';
import { type EventLogPosition, eventFormat } from '../events/event-record.ts';
import type { LogPosition } from '../journal/segments.ts';
import { BulkLog } from '../log/bulk-log.ts';
import { hexChecksum } from '../log/checksum.ts';
import {
  type ManifestData,
  manifestBytes,
  manifestCopy,
  manifestName,
  readRecordFile,
  refuseOtherFormat,
  storeFolders,
} from '../manifest.ts';
import { recoverParts } from '../open.ts';
import { makeSecret, readSecret } from '../secret.ts';
import { EventDocument, isEventDocument } from './event-documents.ts';
import { rebuildManifest } from './rebuild-manifest.ts';
import { reconcileRows } from './reconcile-rows.ts';
import type { RepairContext } from './repair-context.ts';
import { AuditSalvage } from './salvage-audit.ts';
import { salvageChain } from './salvage-chain.ts';
import { type DamagedDocument, salvageDocuments } from './salvage-documents.ts';
import { EventSalvage, type SalvagedEvents } from './salvage-events.ts';
import { type SalvagedJournal, salvageJournal } from './salvage-journal.ts';

/**
 * Writes a valid store into an empty folder, from everything readable in a damaged folder. The
 * damaged folder is not changed. The manifest is written last, so that an interrupted repair cannot
 * be opened as a store. Throws `store_damaged` when nothing can be recovered.
 */
export async function repairFolder(salvageContext: RepairContext, random: Random): Promise<void> {
  const { into } = salvageContext;
  const salvagedManifest = await salvageManifest(salvageContext);
  const manifest = salvagedManifest ?? (await rebuildManifest(salvageContext));
  for (const folder of storeFolders) await into.disk.makeDirectory(`${into.directory}/${folder}`);
  const oldSecret = await salvageSecret(salvageContext, manifest);
  const secret = await makeSecret(into, () => oldSecret ?? random(32));
  const context = { ...salvageContext, dropsLinks: oldSecret === undefined };
  const { marks, epoch } = manifest;
  const { intact, damaged } = await salvageDocuments(context, manifest.documents);
  const journal = await salvageJournal(context, marks.journal as LogPosition | undefined, epoch);
  const eventDocuments = damaged
    .filter(({ name }) => isEventDocument(name))
    .map((document) => new EventDocument(document));
  const eventsAt = marks.events as EventLogPosition | undefined;
  const newEvents = await BulkLog.open(into, eventFormat);
  const events = await new EventSalvage(context, eventsAt, newEvents, (record) => {
    for (const one of eventDocuments) one.apply(record);
  }).run();
  const newAudit = await BulkLog.open(into, auditFormat);
  const audit = await new AuditSalvage(context, marks, journal.records, newAudit).run();
  const documents = {
    ...intact,
    ...(await rewriteDocuments(context, damaged, {
      eventDocuments,
      events,
      journal,
      isManifestRebuilt: !salvagedManifest,
    })),
  };
  const { backup: _backup, ...rest } = manifest;
  const repaired: ManifestData = {
    ...rest,
    clean: false,
    documents,
    secret: hexChecksum(secret),
    marks: {
      journal: journal.position,
      ...(marks.chain !== undefined && oldSecret && { chain: marks.chain }),
      ...(events.position && { events: events.position }),
      ...(audit && { audit }),
    },
  };
  repaired.marks.chain = await salvageChain(context, repaired, secret);
  const parts = await recoverParts(into, repaired, secret);
  const seqs = new Map(damaged.map(({ name, entry }) => [name, entry.seq]));
  // Without the old manifest, a document that is not found may have been lost. Its rows are then
  // restored from the journal.
  await reconcileRows(
    context,
    parts.state,
    journal,
    (name) => seqs.get(name) ?? (salvagedManifest ? undefined : 0),
    epoch,
  );
  await finish(context, repaired);
}

/** Returns the manifest or its copy, or `undefined` if neither can be read. */
async function salvageManifest({ from, log }: RepairContext): Promise<ManifestData | undefined> {
  for (const name of [manifestName, manifestCopy]) {
    const manifest = await readRecordFile<ManifestData>(
      from.disk,
      `${from.directory}/${name}`,
    ).catch((error: unknown) => {
      if (!(error instanceof SignageError)) throw error;
      return null;
    });
    if (manifest) {
      refuseOtherFormat(manifest, from.directory);
      if (name === manifestCopy)
        log.add(manifestName, 'it cannot be read; the other copy was used');
      return manifest;
    }
  }
  return undefined;
}

async function salvageSecret(
  { from, log }: RepairContext,
  { secret: checksum }: ManifestData,
): Promise<Uint8Array | undefined> {
  return readSecret(from, checksum).catch((error: unknown) => {
    if (!(error instanceof SignageError)) throw error;
    log.add(
      'secret',
      'a new one was created: unused pairing codes, and repeats of a registration or key rotation, are rejected from now on; bound TVs stay bound; the audit trail starts a new chain',
      { lost: 1 },
    );
    return undefined;
  });
}

/** Sources for rebuilding damaged documents. */
interface Sources {
  eventDocuments: readonly EventDocument[];
  events: SalvagedEvents;
  journal: SalvagedJournal;
  /** True if the manifest was lost, so that no checksums are known. */
  isManifestRebuilt: boolean;
}

/**
 * Rebuilds and writes the damaged documents. Sources are the journal, the events and the readable
 * lines of the documents.
 */
async function rewriteDocuments(
  context: RepairContext,
  damaged: readonly DamagedDocument[],
  { eventDocuments, events, journal, isManifestRebuilt }: Sources,
): Promise<Record<string, DocumentEntry>> {
  const { disk, directory } = context.into;
  const folder = `${directory}/documents`;
  const documents: Record<string, DocumentEntry> = {};
  for (const document of damaged) {
    const { name, entry, dropped } = document;
    const fromEvents = await eventDocuments
      .find((one) => one.document === document)
      ?.lines(events, isManifestRebuilt);
    const isInJournal = journal.isComplete && /^(rows|past)-/.test(name);
    const lines = isInJournal ? [] : (fromEvents?.lines ?? document.lines);
    const file = `documents/${entry.file}`;
    if (isInJournal) context.log.add(file, 'it was rebuilt from the journal');
    else if (fromEvents?.isExact) context.log.add(file, 'it was rebuilt from the events');
    else if (dropped > 0)
      context.log.add(file, 'lines that cannot be read were left out', { lost: dropped });
    else if (!isManifestRebuilt)
      context.log.add(file, 'something in it is missing or was changed; it is unknown what', {
        lost: null,
      });
    if (lines.length > 0)
      documents[name] = await writeDocument(disk, folder, entry.file, { seq: entry.seq, lines });
  }
  return documents;
}

/** Writes the report, then the manifest. */
async function finish({ from, into, log }: RepairContext, manifest: ManifestData): Promise<void> {
  const { disk, directory, clock } = into;
  const at = iso(clock.now());
  const report = { at, from: from.directory, into: directory, mended: log.entries };
  const text = `${JSON.stringify(report, null, 1)}\n`;
  await writeNewFile(disk, `${directory}/repair-${at.replaceAll(':', '-')}.json`, (file) =>
    writeFully(file, Buffer.from(text)),
  );
  for (const folder of storeFolders) await disk.syncDirectory(`${directory}/${folder}`);
  await replaceContents(disk, `${directory}/${manifestName}`, manifestBytes(manifest));
}
