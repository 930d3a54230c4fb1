import type { IncomingHttpHeaders } from 'node:http';
import { type BatchSums, batchSums } from '../../domain/events/batch-counts.ts';
import { plainBatch } from '../../domain/events/plain-batch.ts';
import { operations } from '../../wire/operations.ts';
import { checkType, parseBody, type ReadBody } from '../request/body.ts';
import { checkBody } from '../request/validate.ts';

/** A parsed and validated batch of events. */
interface ReadBatch {
  sums: BatchSums;
  sent: ReadBody;
}

/** The scan result of a plain batch: nothing is too large, too deep or duplicated. */
const plainScan: ReadBody['scan'] = { depth: 2, elements: [], members: 0, isCompact: true };

/**
 * Reads a batch with the same checks and errors as `readBody`. Uses the fast parser for plain
 * batches, and the general one for all others.
 */
export function readBatch(
  bytes: Uint8Array,
  { 'content-type': type, 'content-encoding': encoding }: IncomingHttpHeaders,
): ReadBatch {
  checkType(type, encoding);
  const sums = plainBatch(bytes);
  if (sums) return { sums, sent: { bytes, json: undefined, scan: plainScan } };
  const sent = parseBody(bytes, type, encoding, operations.postEvents.partLimit);
  return { sums: batchSums(checkBody('eventBatch', sent.json)), sent };
}
