import { SignageError } from '../../../domain/error.ts';
import { mediaFolder } from '../../../domain/media/media-keys.ts';
import { ChainKey, type ChainState } from '../../audit/audit-chain.ts';
import {
  type AuditFinding,
  type AuditSummary,
  AuditVerifier,
  type KeptHead,
} from '../../audit/audit-verifier.ts';
import { readTrail } from '../audit/trail-reader.ts';
import { type ManifestData, storeFolders } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { recoverParts } from '../open.ts';
import { isOwnFile } from '../own-files.ts';
import { readDamagedFolder } from '../repair/damaged-folder.ts';
import { type FolderFinding, FolderFindings } from '../repair/finding.ts';
import { readSecret } from '../secret.ts';
import { checkMediaFolder } from './check-media.ts';

const mediaNames = /^([0-9a-f]{2}|incomplete|parts)$/;
const mediaFileNames = /^[0-9a-f]{64}$/;

/**
 * Reads everything in a data folder as a repair does, and reports all damage. This includes files
 * that a start does not read, such as old events and audit entries. If there is no damage, it also
 * verifies the chain of the audit trail, and runs a start up to the first write. Reads the media
 * files in any case.
 */
export async function checkFolder(context: PartContext): Promise<FolderFinding[]> {
  const findings = new FolderFindings();
  await noteForeignEntries(context, findings);
  const found = await readAll(context, findings);
  if (!found) return findings.all;
  const { manifest, source } = found;
  if (manifest && !findings.hasDamage) {
    const secret = await readSecret(context, manifest.secret);
    await verifyTrail(context, manifest, secret, (found, file, offset) =>
      findings[found.level](file, textOf(found), { offset }),
    );
    if (!findings.hasDamage) await tryStart(context, manifest, secret, findings);
  }
  await checkMediaFolder(context, source, findings);
  return findings.all;
}

/** Notes entries of the store's folders and of the media folder that the service did not make. */
async function noteForeignEntries(
  { disk, directory }: PartContext,
  findings: FolderFindings,
): Promise<void> {
  const note = async (folder: string, isOwn: (name: string) => boolean) => {
    // A foreign file may have the name of a folder.
    for (const name of (await disk.list(`${directory}/${folder}`).catch(() => [])).sort())
      if (!isOwn(name))
        findings.note(`${folder}/${name}`, 'this is not of the service, which leaves it alone');
  };
  for (const folder of storeFolders) await note(folder, (name) => isOwnFile(folder, name));
  await note(mediaFolder, (name) => mediaNames.test(name));
  for (const name of await disk.list(`${directory}/${mediaFolder}`))
    if (/^[0-9a-f]{2}$/.test(name))
      await note(`${mediaFolder}/${name}`, (one) => mediaFileNames.test(one));
}

async function readAll(
  context: PartContext,
  findings: FolderFindings,
): Promise<Awaited<ReturnType<typeof readDamagedFolder>> | undefined> {
  const nothing = () => Buffer.alloc(32);
  try {
    const options = { random: nothing, keepUnproved: true };
    return await readDamagedFolder(context, findings, options);
  } catch (error) {
    // Nothing can be recovered. The findings say why.
    if (error instanceof SignageError && error.code === 'store_damaged') return undefined;
    throw error;
  }
}

/**
 * Verifies the hash chain of the audit trail, which detects changed entries with valid checksums.
 * Calls `report` for each finding.
 */
export async function verifyTrail(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
  report: (found: AuditFinding, file: string, offset: number | null) => void,
  kept?: KeptHead,
): Promise<AuditSummary> {
  const chain = manifest.marks.chain as ChainState | undefined;
  const verifier = new AuditVerifier(new ChainKey(secret), chain, kept);
  const onDamage = (file: string, offset: number) => {
    const nowhere = { writer: null, sequence: null, at: null, id: null };
    const what = `this is not an entry, or it is damaged: ${file}, at byte ${offset}`;
    report({ level: 'damage', ...nowhere, what }, file, offset);
  };
  for await (const { file, offset, sealed } of readTrail(context, manifest, onDamage))
    for (const found of verifier.take(sealed)) report(found, file, offset);
  for (const found of verifier.end()) report(found, 'audit', null);
  return verifier.summary;
}

function textOf({ writer, sequence, at, id, what }: AuditFinding): string {
  const place = [
    sequence !== null && `entry ${sequence} of writer ${writer}`,
    at !== null && `of ${at}`,
    id !== null && `id ${id}`,
  ];
  return `${what} (${place.filter(Boolean).join(', ')})`;
}

async function tryStart(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
  findings: FolderFindings,
): Promise<void> {
  try {
    await recoverParts(context, manifest, secret);
  } catch (error) {
    findings.damage(
      '.',
      error instanceof SignageError ? error.message : `a start fails: ${(error as Error).message}`,
    );
  }
}
