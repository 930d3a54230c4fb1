import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { frameEntry } from '../audit/entry-record.ts';
import { frameRecord } from '../events/event-record.ts';
import type { BulkLog } from '../log/bulk-log.ts';
import { dayFile } from '../log/day-files.ts';

export async function appendBatches(log: BulkLog, batches: readonly CopiedBatch[]): Promise<void> {
  for (const { body, ...batch } of batches)
    await log.add(dayFile(batch.receivedAt), frameRecord(batch, Buffer.from(body)));
  await log.flush();
}

/**
 * Appends audit entries. `before` is the number of entries that the log already has. Each entry is
 * numbered as if it had its own journal record. No entry goes to a file older than the newest.
 */
export async function appendEntries(
  log: BulkLog,
  entries: readonly SealedEntry[],
  before: number,
): Promise<void> {
  let newest = log.end.file ?? '';
  for (const [place, sealed] of entries.entries()) {
    const own = dayFile(sealed.entry.at);
    if (own > newest) newest = own;
    await log.add(newest, frameEntry({ seq: before + place + 1, n: 0 }, sealed));
  }
  await log.flush();
}
