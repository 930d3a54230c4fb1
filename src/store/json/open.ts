import type { Low } from 'lowdb';
import { iso, type Random } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { ChainState } from '../audit/audit-chain.ts';
import { LastActivityTable } from './activity/last-activity.ts';
import { AuditTrail } from './audit/audit-trail.ts';
import { TrailChain } from './audit/trail-chain.ts';
import { inParallel } from './checkpoint/checkpoint.ts';
import { DocumentFile } from './checkpoint/document-file.ts';
import type { DocumentOwner } from './checkpoint/document-owner.ts';
import {
  type ManifestData,
  manifestCopy,
  manifestName,
  readManifest,
  storeFolders,
} from './checkpoint/manifest.ts';
import { makeDeferredDeleteDisk } from './disk/deferred-delete.ts';
import type { FilePart, PartContext } from './disk/parts.ts';
import { EventLog } from './events/event-log.ts';
import { Journal } from './journal/journal.ts';
import { DurableState } from './journal-replay.ts';
import { JsonStore, type StoreParts } from './json-store.ts';
import { hexChecksum } from './log/checksum.ts';
import { damageError } from './log/damage.ts';
import { isOwnFile } from './own-files.ts';
import { makeSecret, readSecret } from './secret.ts';

/** Maximum number of documents that are read at the same time. */
const concurrency = 8;

/** Names allowed in a folder that is not a store yet. */
const allowedNames =
  /^([.@#].*|lost\+found|secret(\.tmp)?|manifest(\.copy)?\.json\.tmp|lock\.sock.*)$/;

/**
 * Opens the store in a folder, or creates one in an empty folder. The caller holds the folder's
 * lock; `release` frees it. Reads and checks everything that a start needs before it changes
 * anything.
 */
export async function openJsonStore(
  parentContext: PartContext,
  random: Random,
  release: () => Promise<void>,
): Promise<JsonStore> {
  const disk = makeDeferredDeleteDisk(parentContext.disk);
  const context = { ...parentContext, disk };
  const manifest = await readManifest(context.disk, context.directory);
  const secret =
    manifest.data.epoch > 0
      ? await readSecret(context, manifest.data.secret)
      : await beginStore(context, random);
  const parts = await recoverParts(context, manifest.data, secret);
  const chain = parts.chain.open(manifest.data.backup !== undefined, random);
  await begin(context, manifest, parts.files, { secret, chain });
  return new JsonStore({ context, retain: disk.retain, manifest, secret, release, ...parts });
}

/** Reads and checks everything that a start needs. Changes nothing. */
export async function recoverParts(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
): Promise<ReturnType<typeof makeParts>> {
  const parts = makeParts(context, secret);
  await loadDocuments(context, manifest, parts.owners);
  // The journal is last in this order: its records are replayed into the other parts.
  for (const part of parts.marked.toReversed())
    await part.recover(manifest.marks[part.name], manifest.clean);
  refuseLostRecords(context.directory, manifest, parts);
  parts.state.loaded();
  return parts;
}

/**
 * Throws `store_damaged` if a log ends before the last record that a document contains. Documents
 * contain only durable records, so the log has lost some. The log's position does not reveal this,
 * because documents may contain records that arrived after a checkpoint took the position.
 */
function refuseLostRecords(
  directory: string,
  { documents }: ManifestData,
  { journal, events, owners }: Pick<StoreParts, 'journal' | 'events' | 'owners'>,
): void {
  const ends = { journal: journal.log.end, events: events.log.end, none: undefined };
  for (const [name, { file, seq }] of Object.entries(documents)) {
    const log = owners.find(({ kind }) => name.startsWith(`${kind}-`))?.log ?? 'none';
    const end = ends[log];
    if (!end || seq <= end.seq) continue;
    throw damageError(
      `${directory}/${log}${end.file === null ? '' : `/${end.file}`}`,
      `record ${seq}, which documents/${file} contains, is missing`,
    );
  }
}

async function beginStore(context: PartContext, random: Random): Promise<Uint8Array> {
  const { disk, directory } = context;
  if ((await disk.sizeOf(`${directory}/${manifestCopy}`)) !== undefined)
    throw damageError(`${directory}/${manifestName}`, 'the file is missing');
  for (const folder of storeFolders) {
    const names = await disk.list(`${directory}/${folder}`);
    if (names.some((name) => isOwnFile(folder, name)))
      throw damageError(`${directory}/manifest.json`, 'the file is missing');
  }
  const foreignName = (await disk.list(directory)).find(
    (name) => !storeFolders.includes(name) && !allowedNames.test(name),
  );
  if (foreignName !== undefined) {
    throw new SignageError(
      'store_unusable',
      `${directory} is not a data folder and not empty (${foreignName}): choose another folder. Nothing was changed.`,
    );
  }
  return makeSecret(context, random);
}

function makeParts(
  context: PartContext,
  secret: Uint8Array,
): Omit<StoreParts, 'context' | 'retain' | 'manifest' | 'secret' | 'release'> {
  const events = new EventLog(context);
  const audit = new AuditTrail(context);
  const chain = new TrailChain(secret);
  const lastActivity = new LastActivityTable(context.clock);
  const state = new DurableState({ audit, chain }, lastActivity, events);
  const journal = new Journal(context, (record) => state.replay(record));
  const owners = [state.documents, state.disk, lastActivity, ...events.owners];
  return {
    events,
    audit,
    chain,
    lastActivity,
    state,
    journal,
    owners,
    marked: [journal, chain, audit, events],
    files: [journal, audit, events],
  };
}

async function loadDocuments(
  context: PartContext,
  { documents }: ManifestData,
  owners: readonly DocumentOwner[],
): Promise<void> {
  const directory = `${context.directory}/documents`;
  // In this order, most documents that stay raw bytes come early (`marks`, `rings`,
  // `rows-playlists`). Every 64 MB of raw bytes trigger a full garbage collection, which is cheap
  // while the heap is small.
  const byName = Object.entries(documents).sort(([one], [other]) => (one < other ? -1 : 1));
  await inParallel(byName, concurrency, async ([name, entry]) => {
    const owner = owners.find(({ kind }) => name.startsWith(`${kind}-`));
    const path = `${directory}/${entry.file}`;
    if (!owner) throw damageError(path, 'this version does not know this kind of document');
    if (owner.readsLate) await checkSize(context, path, entry.size);
    await owner
      .load(name, new DocumentFile(context.disk, directory, entry))
      .catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? damageError(path, 'the file is missing') : error;
      });
  });
}

async function checkSize({ disk }: PartContext, path: string, wanted: number): Promise<void> {
  const size = await disk.sizeOf(path);
  if (size === undefined) throw damageError(path, 'the file is missing');
  if (size !== wanted)
    throw damageError(path, `it has ${size} bytes where the manifest says ${wanted}`);
}

/** Starts writing: clears the clean flag and increments the epoch. */
async function begin(
  context: PartContext,
  manifest: Low<ManifestData>,
  files: readonly FilePart[],
  { secret, chain }: { secret: Uint8Array; chain: ChainState },
): Promise<void> {
  const { disk, directory, clock } = context;
  const { backup, ...data } = manifest.data;
  const restored = backup && { restored: { backupAt: backup.at, at: clock.now() } };
  const marks = { ...data.marks, chain };
  manifest.data = {
    ...data,
    ...restored,
    marks,
    secret: hexChecksum(secret),
    epoch: data.epoch + 1,
    clean: false,
  };
  await manifest.write();
  await disk.makeDirectory(`${directory}/documents`);
  await disk.syncDirectory(directory);
  const named = new Set(Object.values(manifest.data.documents).map((entry) => entry.file));
  for (const file of await disk.list(`${directory}/documents`)) {
    // Left behind by an interrupted checkpoint.
    if (!named.has(file) && isOwnFile('documents', file))
      await disk.unlink(`${directory}/documents/${file}`);
  }
  for (const part of files) await part.begin(manifest.data.epoch);
  if (backup) warnAboutRestore(context, backup.at);
}

function warnAboutRestore({ directory, warn }: PartContext, backupAt: number): void {
  warn(
    `${directory} was restored from a backup of ${iso(backupAt)}: later changes are lost. Device keys and tokens revoked since then work again: revoke them again.`,
  );
}
