import type { IncomingHttpHeaders } from 'node:http';
import { type BatchSums, batchSums } from '../../domain/events/batch-counts.ts';
import { plainBatch } from '../../domain/events/plain-batch.ts';
import { operations } from '../../wire/operations.ts';
import { checkType, parseBody, type ReadBody } from '../request/body.ts';
import { checkBody } from '../request/validate.ts';

/** A batch of events that was read and checked. */
interface ReadBatch {
  sums: BatchSums;
  sent: ReadBody;
}

/** As one that is plain would be scanned: nothing in it is large, deep, or said twice. */
const plainScan: ReadBody['scan'] = { depth: 2, elements: [], members: 0, isCompact: true };

/** Reads a batch in the order of `readBody`: at a glance, where it is plain; else it is parsed and checked like any body, and throws as that does. */
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
