import { SignageError } from '../../../domain/error.ts';
import { documentProblem } from '../checkpoint/document-file.ts';
import {
  type ManifestData,
  manifestCopy,
  manifestName,
  readRecordFile,
  refuseOtherFormat,
} from '../manifest.ts';
import { recoverParts } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { readSecret } from '../secret.ts';
import { checkLogs, checkTrail } from './check-logs.ts';
import { type FolderFinding, FolderFindings } from './finding.ts';

/**
 * Reads everything in a data folder and reports all damage. This includes files that a start does
 * not read, such as old events and audit entries. If there is no damage, it also runs a start up to
 * the first write, and reports a failure.
 */
export async function checkFolder(context: PartContext): Promise<FolderFinding[]> {
  const findings = new FolderFindings();
  const manifest = await checkManifests(context, findings);
  if (!manifest) return findings.all;
  const secret = await attempt(findings, 'secret', 'it is missing, or was changed or damaged', () =>
    readSecret(context, manifest.secret),
  );
  await checkDocuments(context, manifest, findings);
  await checkLogs(context, manifest, findings);
  if (secret && !findings.hasDamage) await checkTrail(context, manifest, secret, findings);
  if (secret && !findings.hasDamage) await tryStart(context, manifest, secret, findings);
  return findings.all;
}

/** Returns the manifest, or its copy if only the copy is readable. */
async function checkManifests(
  context: PartContext,
  findings: FolderFindings,
): Promise<ManifestData | undefined> {
  const manifest = await readOne(context, manifestName, findings);
  const copy = await readOne(context, manifestCopy, findings);
  if (manifest === null) findings.damage(manifestName, 'the file is missing');
  // Only a store that was started and stopped must have a copy. A crash may come before the first
  // copy is written.
  if (copy === null && manifest?.clean && !manifest.backup) {
    findings.damage(manifestCopy, 'the file is missing');
  }
  const usable = manifest ?? copy ?? undefined;
  if (!manifest && copy)
    findings.note(
      manifestCopy,
      'the other files are checked against this copy: a repair is possible',
    );
  if (usable) refuseOtherFormat(usable, context.directory);
  return usable;
}

/** Returns `undefined` for a damaged manifest, `null` for a missing one. */
function readOne(
  { disk, directory }: PartContext,
  name: string,
  findings: FolderFindings,
): Promise<ManifestData | null | undefined> {
  const what = 'its contents were changed or damaged';
  return attempt(findings, name, what, () =>
    readRecordFile<ManifestData>(disk, `${directory}/${name}`),
  );
}

/**
 * Returns the result of `read`. If `read` throws a `SignageError`, reports damage and returns
 * `undefined`.
 */
async function attempt<T>(
  findings: FolderFindings,
  file: string,
  what: string,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SignageError)) throw error;
    findings.damage(file, what);
    return undefined;
  }
}

async function checkDocuments(
  { disk, directory }: PartContext,
  { documents }: ManifestData,
  findings: FolderFindings,
): Promise<void> {
  for (const entry of Object.values(documents)) {
    const name = `documents/${entry.file}`;
    const path = `${directory}/${name}`;
    const isMissing = (await disk.sizeOf(path)) === undefined;
    const problem = isMissing
      ? 'the file is missing'
      : documentProblem(await disk.readFile(path), entry);
    if (problem !== undefined) findings.damage(name, problem);
  }
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
