import {
  type AuditLink,
  type ChainGap,
  ChainKey,
  type ChainState,
} from '../../audit/audit-chain.ts';
import { readTrail } from '../audit/trail-reader.ts';
import type { ManifestData } from '../manifest.ts';
import type { RepairContext } from './repair-context.ts';

/**
 * Signs the chain of the salvaged audit trail: its head, and a gap for each run of lost entries.
 * Entries with a wrong MAC stay as they are, and checks keep reporting them.
 */
export async function salvageChain(
  { into, log }: RepairContext,
  repaired: ManifestData,
  secret: Uint8Array,
): Promise<ChainState> {
  const key = new ChainKey(secret);
  const { head, start, gaps = [] } = (repaired.marks.chain as ChainState | undefined) ?? {};
  const kept: ChainState = start && key.isStart(start) ? { start } : {};
  const newGaps: ChainGap[] = [];
  let last: AuditLink | undefined = kept.start;
  const reportLost = (from: number, to: number) =>
    log.add('audit', `entries ${from} to ${to} of the chain are lost, or had been lost before`);
  for await (const { sealed } of readTrail(into, repaired)) {
    const { entry, link } = sealed;
    const from = (last?.seq ?? 0) + 1;
    if (!link || link.seq < from) continue;
    if (link.seq > from) {
      newGaps.push(key.gap(from, link, JSON.stringify(entry)));
      reportLost(from, link.seq - 1);
    }
    last = link;
  }
  const end = last?.seq ?? 0;
  if (head && key.isHead(head) && head.seq > end) reportLost(end + 1, head.seq);
  return { ...kept, ...(last && { head: key.head(last) }), gaps: [...gaps, ...newGaps] };
}
