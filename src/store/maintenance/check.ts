import { resolve } from 'node:path';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import type { AuditFinding, AuditSummary, KeptHead } from '../audit/audit-verifier.ts';
import { checkFolder, verifyTrail } from '../json/check/check-folder.ts';
import { readManifest } from '../json/checkpoint/manifest.ts';
import type { FolderFinding } from '../json/repair/finding.ts';
import { readSecret } from '../json/secret.ts';
import { contextOf, whileStopped } from './data-folder.ts';

/**
 * Reads all files of a stopped service's data folder and returns the findings. Changes nothing.
 *
 * Throws `store_locked` while the folder is in use, `store_other_format`,
 * `restore_unfinished`, and `invalid_option` for a folder that is not a data folder.
 *
 * @example
 * const findings = await checkStore('./signage-data');
 * const isIntact = findings.every(({ level }) => level === 'note');
 */
export async function checkStore(folder: string): Promise<FolderFinding[]> {
  const directory = resolve(folder);
  return whileStopped(directory, () => checkFolder(contextOf(directory)));
}

/**
 * Verifies the audit trail of a store: the data folder of a stopped service, or a database URL.
 * `kept` is a head that the operator kept outside the store. Changes nothing.
 *
 * Throws `store_locked`, `store_damaged`, `store_unusable`, `store_unreachable`,
 * and `invalid_option` for a folder that is not a data folder.
 *
 * @example
 * const { findings, summary } = await verifyAudit('./signage-data', kept);
 * const isUntouched = findings.every(({ level }) => level === 'note');
 */
export async function verifyAudit(
  location: string,
  kept?: KeptHead,
): Promise<{ findings: AuditFinding[]; summary: AuditSummary }> {
  if (isDatabaseUrl(location))
    return (await import('../postgres/check.ts')).checkDatabaseTrail(location, kept);
  const directory = resolve(location);
  return whileStopped(directory, () => verifyFolder(directory, kept));
}

async function verifyFolder(
  directory: string,
  kept?: KeptHead,
): Promise<{ findings: AuditFinding[]; summary: AuditSummary }> {
  const context = contextOf(directory);
  const { data: manifest } = await readManifest(context.disk, directory);
  const secret = await readSecret(context, manifest.secret);
  const findings: AuditFinding[] = [];
  const report = (found: AuditFinding) => findings.push(found);
  const summary = await verifyTrail(context, manifest, secret, report, kept);
  return { findings, summary };
}
