import { iso, type Random } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import type { DocumentEntry } from '../checkpoint/document-file.ts';
import { writeFully } from '../disk/file-system.ts';
import { replaceFile } from '../disk/replace-file.ts';
import type { EventsMark } from '../events/recovery.ts';
import type { LogPosition } from '../journal/segments.ts';
import { hexChecksum } from '../log/checksum.ts';
import {
  type ManifestData,
  manifestBytes,
  manifestCopy,
  manifestName,
  readManifestFile,
  refuseNewer,
} from '../manifest.ts';
import { recoverParts } from '../open.ts';
import { makeSecret, readSecret } from '../secret.ts';
import { EventDocument, isEventDocument } from './event-documents.ts';
import { rebuildManifest } from './rebuild-manifest.ts';
import { reconcileRows } from './reconcile-rows.ts';
import { type RepairContext, writeFile } from './repair-context.ts';
import { salvageAudit } from './salvage-audit.ts';
import { salvageChain } from './salvage-chain.ts';
import { type DamagedDocument, salvageDocuments, writeDocument } from './salvage-documents.ts';
import { type SalvagedEvents, salvageEvents } from './salvage-events.ts';
import { type SalvagedJournal, salvageJournal } from './salvage-journal.ts';

const folders = ['documents', 'journal', 'events', 'audit'];

/**
 * Writes a sound store into an empty folder: all that can be read of a damaged one, which stays as it is. The manifest comes last, so that what was cut short
 * is taken for no store. Throws `store_damaged` when there is nothing to go by.
 */
export async function repairFolder(given: RepairContext, random: Random): Promise<void> {
  const { into } = given;
  const known = await salvageManifest(given);
  const manifest = known ?? (await rebuildManifest(given));
  for (const folder of folders) await into.disk.makeDirectory(`${into.directory}/${folder}`);
  const former = await salvageSecret(given, manifest);
  const secret = await makeSecret(into, () => former ?? random(32));
  const context = { ...given, dropsLinks: former === undefined };
  const { marks, epoch } = manifest;
  const { sound, damaged } = await salvageDocuments(context, manifest.documents);
  const journal = await salvageJournal(context, marks.journal as LogPosition | undefined, epoch);
  const counted = damaged
    .filter(({ name }) => isEventDocument(name))
    .map((document) => new EventDocument(document));
  const events = await salvageEvents(context, marks.events as EventsMark | undefined, (record) => {
    for (const one of counted) one.apply(record);
  });
  const audit = await salvageAudit(
    context,
    marks.audit as Parameters<typeof salvageAudit>[1],
    journal.records,
  );
  const documents = {
    ...sound,
    ...(await rewriteDocuments(context, damaged, { counted, events, journal, isGuessed: !known })),
  };
  const { backup: _backup, ...rest } = manifest;
  const repaired: ManifestData = {
    ...rest,
    ...{ clean: false, documents, secret: hexChecksum(secret) },
    marks: {
      ...{
        journal: journal.mark,
        ...(marks.chain !== undefined && former && { chain: marks.chain }),
      },
      ...(events.mark && { events: events.mark }),
      ...(audit && { audit }),
    },
  };
  repaired.marks.chain = await salvageChain(context, repaired, secret);
  const parts = await recoverParts(into, repaired, secret);
  const seqs = new Map(damaged.map(({ name, entry }) => [name, entry.seq]));
  // Without a manifest nobody knows which documents there were: one that is missing may be lost.
  await reconcileRows(
    context,
    parts.state,
    journal,
    (name) => seqs.get(name) ?? (known ? undefined : 0),
    epoch,
  );
  await finish(context, repaired);
}

/** `undefined` when neither of the two can be read. */
async function salvageManifest({ from, log }: RepairContext): Promise<ManifestData | undefined> {
  for (const name of [manifestName, manifestCopy]) {
    const manifest = await readManifestFile(from.disk, `${from.directory}/${name}`).catch(
      (error: unknown) => {
        if (!(error instanceof SignageError)) throw error;
        return null;
      },
    );
    if (manifest) {
      refuseNewer(manifest, from.directory);
      if (name === manifestCopy)
        log.add(manifestName, 'it cannot be read; the other copy was used');
      return manifest;
    }
  }
  return undefined;
}

async function salvageSecret(
  { from, log }: RepairContext,
  { secret: sum }: ManifestData,
): Promise<Uint8Array | undefined> {
  return readSecret(from, sum).catch((error: unknown) => {
    if (!(error instanceof SignageError)) throw error;
    log.add(
      'secret',
      'a new one was made: pairing codes that were not used yet, and repeats of a registration or key rotation, are refused from now on; TVs that are bound stay so; the chain of the audit trail begins anew',
      {
        lost: 1,
      },
    );
    return undefined;
  });
}

/** What damaged documents can be made again from. */
interface Sources {
  counted: readonly EventDocument[];
  events: SalvagedEvents;
  journal: SalvagedJournal;
  /** No manifest says how the documents were written, and when. */
  isGuessed: boolean;
}

/** What is left of damaged documents, with what the events tell of those that count them. */
async function rewriteDocuments(
  context: RepairContext,
  damaged: readonly DamagedDocument[],
  { counted, events, journal, isGuessed }: Sources,
): Promise<Record<string, DocumentEntry>> {
  const documents: Record<string, DocumentEntry> = {};
  for (const document of damaged) {
    const { name, entry, dropped } = document;
    const fromEvents = await counted
      .find((one) => one.document === document)
      ?.lines(events, isGuessed);
    const isInJournal = journal.isComplete && /^(rows|past)-/.test(name);
    const lines = isInJournal ? [] : (fromEvents?.lines ?? document.lines);
    const file = `documents/${entry.file}`;
    if (isInJournal) context.log.add(file, 'it was made again from the journal');
    else if (fromEvents?.isExact) context.log.add(file, 'it was counted again from the events');
    else if (dropped > 0)
      context.log.add(file, 'lines that cannot be read were left out', { lost: dropped });
    else if (!isGuessed)
      context.log.add(
        file,
        'something in it is missing or not what was written; nothing tells what',
        { lost: null },
      );
    const written = await writeDocument(context, entry, lines);
    if (written) documents[name] = written;
  }
  return documents;
}

/** The report, and then the manifest. */
async function finish({ from, into, log }: RepairContext, manifest: ManifestData): Promise<void> {
  const { disk, directory, clock } = into;
  const at = iso(clock.now());
  const report = { at, from: from.directory, into: directory, mended: log.entries };
  await writeFile(
    into,
    `repair-${at.replaceAll(':', '-')}.json`,
    Buffer.from(`${JSON.stringify(report, null, 1)}\n`),
  );
  for (const folder of folders) await disk.syncDirectory(`${directory}/${folder}`);
  await replaceFile(disk, `${directory}/${manifestName}`, (file) =>
    writeFully(file, manifestBytes(manifest)),
  );
  await disk.syncDirectory(directory);
}
