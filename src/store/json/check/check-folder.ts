import { SignageError } from '../../../domain/error.ts';
import { copyUnfinishedError } from '../../copy/copy-progress.ts';
import { copyMarker, readMarker } from '../copy/copy-marker.ts';
import { hexChecksum } from '../log/checksum.ts';
import {
  type ManifestData,
  manifestCopy,
  manifestName,
  readManifestFile,
  refuseNewer,
} from '../manifest.ts';
import { recoverParts } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { readSecret } from '../secret.ts';
import { checkDays } from './check-days.ts';
import { checkJournal } from './check-journal.ts';
import { checkTrail } from './check-trail.ts';
import { type Finding, Findings } from './finding.ts';

/**
 * Reads everything in a data folder and reports all damage, also in files that no start reads, such
 * as old events and audit entries. If there is none, a trial start, up to its first write, must
 * succeed, too.
 */
export async function checkFolder(context: PartContext): Promise<Finding[]> {
  const findings = new Findings();
  const { disk, directory } = context;
  if (await isUnfinishedCopy(context, findings)) return findings.all;
  const manifest = await checkManifests(context, findings);
  if (!manifest) return findings.all;
  const secret = await checkSecret(context, manifest, findings);
  await checkDocuments(context, manifest, findings);
  await checkJournal(disk, directory, manifest, findings);
  for (const folder of ['events', 'audit'] as const)
    await checkDays(disk, directory, folder, manifest, findings);
  if (secret && !findings.hasDamage) await checkTrail(context, manifest, secret, findings);
  if (secret && !findings.hasDamage) await tryStart(context, manifest, secret, findings);
  return findings.all;
}

/**
 * Returns whether the folder has a damaged copy marker, in which case nothing else is checked.
 * Throws `copy_unfinished` when the copy can be resumed.
 */
async function isUnfinishedCopy(
  { disk, directory }: PartContext,
  findings: Findings,
): Promise<boolean> {
  const marker = await readMarker(disk, directory).catch((error: unknown) => {
    if (!(error instanceof SignageError)) throw error;
    const what =
      'its contents are damaged, and the copy into this folder was not finished: empty the folder, and copy again';
    findings.damage(copyMarker, what);
    return undefined;
  });
  if (marker) throw copyUnfinishedError(directory);
  return findings.hasDamage;
}

/** Returns the manifest, or its copy if only that is readable. */
async function checkManifests(
  context: PartContext,
  findings: Findings,
): Promise<ManifestData | undefined> {
  const manifest = await readOne(context, manifestName, findings);
  const copy = await readOne(context, manifestCopy, findings);
  if (manifest === null) findings.damage(manifestName, 'the file is missing');
  // A store that was never started, or not since an earlier version wrote it, has no copy. A crash
  // may come before the first copy is written.
  if (copy === null && manifest?.clean && manifest.secret !== undefined && !manifest.backup) {
    findings.damage(manifestCopy, 'the file is missing');
  }
  const usable = manifest ?? copy ?? undefined;
  if (!manifest && copy)
    findings.note(
      manifestCopy,
      'the other files are checked against this copy: a repair is possible',
    );
  if (usable) refuseNewer(usable, context.directory);
  return usable;
}

/** Returns `undefined` for a damaged manifest, `null` for a missing one. */
async function readOne(
  { disk, directory }: PartContext,
  name: string,
  findings: Findings,
): Promise<ManifestData | null | undefined> {
  return readManifestFile(disk, `${directory}/${name}`).catch((error: unknown) => {
    if (!(error instanceof SignageError)) throw error;
    findings.damage(name, 'its contents are not what was written');
    return undefined;
  });
}

async function checkSecret(
  context: PartContext,
  { secret }: ManifestData,
  findings: Findings,
): Promise<Uint8Array | undefined> {
  return readSecret(context, secret).catch((error: unknown) => {
    if (!(error instanceof SignageError)) throw error;
    findings.damage('secret', 'it is missing, or not what was written');
    return undefined;
  });
}

async function checkDocuments(
  { disk, directory }: PartContext,
  { documents }: ManifestData,
  findings: Findings,
): Promise<void> {
  for (const { file, size, crc } of Object.values(documents)) {
    const name = `documents/${file}`;
    const found = await disk.sizeOf(`${directory}/${name}`);
    if (found === undefined) findings.damage(name, 'the file is missing');
    else if (found !== size)
      findings.damage(name, `it has ${found} bytes where the manifest says ${size}`);
    else if (hexChecksum(await disk.readFile(`${directory}/${name}`)) !== crc)
      findings.damage(name, 'its contents are not what was written');
  }
}

async function tryStart(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
  findings: Findings,
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
