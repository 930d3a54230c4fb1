import { ChainKey, type ChainState } from '../../audit/audit-chain.ts';
import { type AuditFinding, AuditVerifier } from '../../audit/audit-verifier.ts';
import { auditFormat } from '../audit/entry-record.ts';
import { readTrail } from '../audit/trail-reader.ts';
import { eventFormat } from '../events/event-record.ts';
import { journalFormat } from '../journal/segments.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { checkedRecords, fileProblems, type LogFormat, listLog } from '../log/log-records.ts';
import type { ManifestData } from '../manifest.ts';
import type { PartContext } from '../parts.ts';
import type { FolderFindings } from './finding.ts';

/**
 * Checks the files of all logs against their positions, including days that a start does not read.
 * Reports the same damage as a start, but continues after it.
 */
export async function checkLogs(
  context: PartContext,
  manifest: ManifestData,
  findings: FolderFindings,
): Promise<void> {
  await checkLog(context, journalFormat, manifest, findings);
  await checkLog(context, eventFormat, manifest, findings);
  await checkLog(context, auditFormat, manifest, findings);
}

async function checkLog<Head, Position extends LogFilesPosition>(
  context: PartContext,
  format: LogFormat<Head, Position>,
  { marks, clean }: ManifestData,
  findings: FolderFindings,
): Promise<void> {
  const { folder } = format;
  const position = (marks[folder] as Position | undefined) ?? format.start;
  const log = await listLog(context, format, position);
  const problems = await fileProblems(log, position, clean ? 'stopped' : 'crashed');
  for (const { file, what, offset } of problems) findings.damage(`${folder}/${file}`, what, offset);
  const before = format.headBefore(position);
  const expected = { position, before, canBeTorn: !clean, problems };
  for await (const found of checkedRecords(log, format, expected)) {
    const file = `${folder}/${found.file}`;
    if ('what' in found) findings.damage(file, found.what, found.offset);
    else if ('size' in found)
      findings.note(
        file,
        'it ends in a record that was never acknowledged: the next start cuts it off',
        found.size,
      );
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
    for (const one of found) findings[one.level](file, textOf(one), offset);
  };
  const onDamage = (file: string, offset: number) =>
    findings.damage(file, 'this is not an entry', offset);
  for await (const { file, offset, sealed } of readTrail(context, manifest, onDamage))
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
