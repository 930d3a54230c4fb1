import { SignageError } from '../../../domain/error.ts';
import { ChainKey, type ChainState } from '../../audit/audit-chain.ts';
import { type AuditFinding, AuditVerifier } from '../../audit/audit-verifier.ts';
import { readTrail } from '../audit/trail-reader.ts';
import type { ManifestData } from '../manifest.ts';
import { recoverParts } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { readDamagedFolder } from '../repair/damaged-folder.ts';
import { type FolderFinding, FolderFindings } from '../repair/finding.ts';
import { readSecret } from '../secret.ts';
import { checkMedia } from './check-media.ts';

/**
 * Reads everything in a data folder as a repair does, and reports all damage. This includes files
 * that a start does not read, such as old events and audit entries. If there is no damage, it also
 * verifies the chain of the audit trail, and runs a start up to the first write. Reads the media
 * files in any case.
 */
export async function checkFolder(context: PartContext): Promise<FolderFinding[]> {
  const findings = new FolderFindings();
  const found = await readAll(context, findings);
  if (!found) return findings.all;
  const { manifest, source } = found;
  if (manifest && !findings.hasDamage) {
    const secret = await readSecret(context, manifest.secret);
    await checkTrail(context, manifest, secret, findings);
    if (!findings.hasDamage) await tryStart(context, manifest, secret, findings);
  }
  await checkMedia(context, source, findings);
  return findings.all;
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

/** Checks the hash chain of the audit trail, which detects changed entries with valid checksums. */
export async function checkTrail(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
  findings: FolderFindings,
): Promise<void> {
  const verifier = new AuditVerifier(
    new ChainKey(secret),
    manifest.marks.chain as ChainState | undefined,
  );
  const report = (found: readonly AuditFinding[], file: string, offset: number | null) => {
    for (const one of found) findings[one.level](file, textOf(one), { offset });
  };
  for await (const { file, offset, sealed } of readTrail(context, manifest))
    report(verifier.take(sealed), file, offset);
  report(verifier.end(), 'audit', null);
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
