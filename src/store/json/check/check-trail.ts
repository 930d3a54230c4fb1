import { ChainKey, type ChainState } from '../../audit/audit-chain.ts';
import { type AuditFinding, AuditVerifier } from '../../audit/audit-verifier.ts';
import { readTrail } from '../audit/trail-reader.ts';
import type { ManifestData } from '../manifest.ts';
import type { PartContext } from '../parts.ts';
import type { Findings } from './finding.ts';

/** Checks the hash chain of the audit trail, which detects changed entries with valid checksums. */
export async function checkTrail(
  context: PartContext,
  manifest: ManifestData,
  secret: Uint8Array,
  findings: Findings,
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
  for await (const { file, offset, ...sealed } of readTrail(context, manifest, onDamage))
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
