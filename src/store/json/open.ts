import type { Low } from 'lowdb';
import { iso, type Random } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { ChainState } from '../audit/audit-chain.ts';
import { ChangeTopics } from '../change-topics.ts';
import { makeLastActivityPart } from './activity/last-activity.ts';
import { makeAuditTrail } from './audit/audit-trail.ts';
import { TrailChain } from './audit/trail-chain.ts';
import { writtenDocument } from './checkpoint/checkpoint.ts';
import type { DocumentOwner } from './checkpoint/document-owner.ts';
import { makeDeferredDeleteDisk } from './disk/deferred-delete.ts';
import { inParallel } from './disk/in-parallel.ts';
import { makeEventLog } from './events/event-log.ts';
import { Journal } from './journal/journal.ts';
import { DurableState } from './journal/journal-replay.ts';
import { JsonStore, type StoreParts } from './json-store.ts';
import { hexChecksum } from './log/checksum.ts';
import { damaged } from './log/damage.ts';
import { refuseLostRecords } from './log/lost-records.ts';
import { type ManifestData, manifestCopy, manifestName, readManifest } from './manifest.ts';
import type { FilePart, PartContext } from './parts.ts';
import { makePlaylistHistory } from './rows/playlist-history.ts';
import { makeSecret, readSecret } from './secret.ts';
import { type UpgradeStep, upgradeFolder, upgradeSteps } from './upgrade.ts';

/** Documents that are read at the same time. */
const width = 8;

/** Names that may stand in a folder before it is a store. */
const harmless = /^(\..*|lost\+found|secret(\.tmp)?|manifest(\.copy)?\.json\.tmp|lock\.sock.*)$/;
const ours = ['journal', 'documents', 'events', 'audit'];

/**
 * Opens the store in a folder, or begins one in an empty folder. The caller holds the folder's lock; `release` gives it back.
 * Nothing is changed on the disk before everything was read and found sound, but for a folder of an older format, of which a copy is made first.
 */
export async function openJsonStore(
  given: PartContext,
  random: Random,
  release: () => Promise<void>,
  steps: readonly UpgradeStep[] = upgradeSteps,
): Promise<JsonStore> {
  const disk = makeDeferredDeleteDisk(given.disk);
  const context = { ...given, disk };
  const manifest = await readManifest(context.disk, context.directory, steps.length + 1);
  await upgradeFolder(context, manifest, steps);
  const secret =
    manifest.data.epoch > 0
      ? await readSecret(context, manifest.data.secret)
      : await beginStore(context, random);
  const parts = await recoverParts(context, manifest.data, secret);
  const chain = parts.chain.open(manifest.data.backup !== undefined, random);
  await begin(context, manifest, parts.files, { secret, chain });
  return new JsonStore({ context, retain: disk.retain, manifest, secret, release, ...parts });
}

/** Reads and checks all that a start needs, and changes nothing. */
export async function recoverParts(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
): Promise<ReturnType<typeof makeParts>> {
  const parts = makeParts(context, secret);
  await loadDocuments(context, manifest, parts.owners);
  // The journal comes last: it hands on what the others lack.
  for (const part of parts.files.toReversed())
    await part.recover(manifest.marks[part.name], manifest.clean);
  const { journal, events } = parts;
  const ends = {
    journal: { file: journal.extent.file, seq: journal.seq },
    events: { file: events.extent(undefined).end.file, seq: events.seq },
  };
  refuseLostRecords(context.directory, manifest, parts.owners, ends);
  parts.state.loaded();
  return parts;
}

async function beginStore(context: PartContext, random: Random): Promise<Uint8Array> {
  const { disk, directory } = context;
  if ((await disk.sizeOf(`${directory}/${manifestCopy}`)) !== undefined)
    throw damaged(`${directory}/${manifestName}`, 'the file is missing');
  for (const folder of ours) {
    if ((await disk.list(`${directory}/${folder}`)).length > 0)
      throw damaged(`${directory}/manifest.json`, 'the file is missing');
  }
  const stranger = (await disk.list(directory)).find(
    (name) => !ours.includes(name) && !harmless.test(name),
  );
  if (stranger !== undefined) {
    throw new SignageError(
      'store_unusable',
      `${directory} is no data folder, and not empty (${stranger}): name another folder. Nothing was changed.`,
    );
  }
  return makeSecret(context, random);
}

function makeParts(
  context: PartContext,
  secret: Uint8Array,
): Omit<StoreParts, 'context' | 'retain' | 'manifest' | 'secret' | 'release'> {
  const topics = new ChangeTopics();
  const hooks = {
    stored: (tenantId: string) => topics.changed(`events/${tenantId}`),
    due: () => {},
  };
  const events = makeEventLog(context, hooks);
  const audit = makeAuditTrail(context);
  const chain = new TrailChain(secret);
  const marks = makeLastActivityPart(context);
  const state = new DurableState(makePlaylistHistory(context), { audit, chain }, marks, events);
  const journal = new Journal(context, (record) => state.replay(record));
  const owners = [state.documents, state.cold, marks, ...events.owners];
  return {
    topics,
    hooks,
    events,
    audit,
    chain,
    marks,
    state,
    journal,
    owners,
    files: [journal, chain, audit, events],
  };
}

async function loadDocuments(
  context: PartContext,
  { documents }: ManifestData,
  owners: readonly DocumentOwner[],
): Promise<void> {
  const directory = `${context.directory}/documents`;
  const found = Object.entries(documents).map(([name, entry]) => ({
    name,
    entry,
    owner: owners.find((one) => name.startsWith(`${one.kind}-`)),
  }));
  // What stays bytes comes first: each 64 MB of them make the garbage collector look through the whole heap, which is small as yet.
  const isBytes = ({ name, owner }: (typeof found)[number]) => owner?.keepsBytes?.(name) === true;
  const inOrder = [...found.filter(isBytes), ...found.filter((one) => !isBytes(one))];
  await inParallel(inOrder, width, async ({ name, entry, owner }) => {
    const path = `${directory}/${entry.file}`;
    if (!owner) throw damaged(path, 'it belongs to no part of this version');
    if (owner.readsLate) await checkSize(context, path, entry.size);
    await owner
      .load(name, writtenDocument(context, directory, entry))
      .catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? damaged(path, 'the file is missing') : error;
      });
  });
}

async function checkSize({ disk }: PartContext, path: string, wanted: number): Promise<void> {
  const size = await disk.sizeOf(path);
  if (size === undefined) throw damaged(path, 'the file is missing');
  if (size !== wanted)
    throw damaged(path, `it has ${size} bytes where the manifest says ${wanted}`);
}

/** From here on the folder is written to: the clean mark goes first, and every start has an epoch of its own. */
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
    // Left behind by a checkpoint that was cut short.
    if (!named.has(file)) await disk.unlink(`${directory}/documents/${file}`);
  }
  for (const part of files) await part.begin(manifest.data.epoch);
  if (backup) warnOfRestored(context, backup.at);
}

function warnOfRestored({ directory, warn }: PartContext, backupAt: number): void {
  warn(
    `${directory} was restored from a backup of ${iso(backupAt)}: what was changed after that is undone. Device keys and tokens that were revoked since then work again: revoke them again.`,
  );
}
