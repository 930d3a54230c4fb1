import { resolve } from 'node:path';
import { systemClock } from '../../domain/clock.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import { ChainKey, type ChainState } from '../audit/audit-chain.ts';
import {
  type AuditFinding,
  type AuditSummary,
  AuditVerifier,
  type KeptHead,
} from '../audit/audit-verifier.ts';
import { readTrail } from '../json/audit/trail-reader.ts';
import { refuseUnfinished } from '../json/copy/copy-marker.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { readManifest } from '../json/manifest.ts';
import { readSecret } from '../json/secret.ts';
import { lockStopped, requireDataFolder } from './check.ts';

/**
 * Verifies the audit trail of a store: the data folder of a stopped service, or a database URL.
 * `kept` is a head that the operator kept elsewhere. Changes nothing.
 *
 * Throws `store_locked`, `store_damaged`, `store_unusable`, `store_unreachable`, `copy_unfinished`,
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
    return (await import('../postgres/audit/check.ts')).checkDatabaseTrail(location, kept);
  const directory = resolve(location);
  await requireDataFolder(directory);
  const release = await lockStopped(directory);
  try {
    await refuseUnfinished(nodeFileSystem, directory);
    return await verifyFolder(directory, kept);
  } finally {
    await release();
  }
}

async function verifyFolder(
  directory: string,
  kept?: KeptHead,
): Promise<{ findings: AuditFinding[]; summary: AuditSummary }> {
  const context = {
    disk: nodeFileSystem,
    directory,
    clock: systemClock,
    lowWaterBytes: 0,
    warn: () => {},
  };
  const { data: manifest } = await readManifest(context.disk, directory);
  const key = new ChainKey(await readSecret(context, manifest.secret));
  const verifier = new AuditVerifier(key, manifest.marks.chain as ChainState | undefined, kept);
  const findings: AuditFinding[] = [];
  const onDamage = (file: string, offset: number) => {
    const nowhere = { writer: null, sequence: null, at: null, id: null };
    findings.push({
      level: 'damage',
      ...nowhere,
      what: `this is not an entry, or it is damaged: ${file}, at byte ${offset}`,
    });
  };
  for await (const { entry, link } of readTrail(context, manifest, onDamage))
    findings.push(...verifier.take(link ? { entry, link } : { entry }));
  findings.push(...verifier.end());
  return { findings, summary: verifier.summary };
}
