import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { frameEntry } from '../audit/pages.ts';
import { frameRecord } from '../events/event-record.ts';
import { dayFile } from '../log/day-files.ts';
import type { BulkLine } from './bulk-log.ts';
import type { BulkEnd } from './copy-marker.ts';

export function batchLine({ body, ...batch }: CopiedBatch): BulkLine {
  return { file: dayFile(batch.receivedAt), bytes: frameRecord(batch, Buffer.from(body)) };
}

/**
 * Returns the lines of entries that follow `before` earlier ones, which end at `end`. They are
 * numbered as if each had been a change of its own. No entry goes to a file older than the newest.
 */
export function auditLines(
  entries: readonly SealedEntry[],
  before: number,
  { file }: BulkEnd,
): BulkLine[] {
  let newest = file ?? '';
  return entries.map(({ entry, link }, place) => {
    const own = dayFile(entry.at);
    if (own > newest) newest = own;
    return { file: newest, bytes: frameEntry(before + place + 1, 0, entry, link) };
  });
}
