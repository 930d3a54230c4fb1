import { hash } from 'node:crypto';
import type {
  CopiedActivity,
  CopiedBatch,
  CopiedImpressions,
  Records,
  Section,
} from './transfer.ts';

/**
 * The text of a record to hash, by section; `rowText` for all others. In rows the id comes first,
 * as
 * one store keeps it there. Other members keep their order, since they may be returned as stored.
 */
const textOf: { [S in Section]?: (record: Records[S], position: number) => string } = {
  batches: ({ seq, receivedAt, tenantId, venueId, screenId, deviceId, body }: CopiedBatch) =>
    `${seq} ${receivedAt} ${tenantId} ${venueId} ${screenId} ${deviceId} ${body}`,
  // Entries have no other order than their position.
  audit: (entry, position) => `${position} ${JSON.stringify(entry)}`,
  idempotency: ({ deviceId, keys }) => `${deviceId} ${keys.join(' ')}`,
  impressions: ({ scope, clock, group, day, key, impressions, seconds }: CopiedImpressions) =>
    JSON.stringify([scope, clock, group, day, key, impressions, seconds]),
  marks: ({ kind, id, marks }: CopiedActivity) =>
    `${kind} ${id} ${JSON.stringify(Object.entries(marks).sort())}`,
};

function rowText({ id, ...rest }: { id: string }): string {
  return JSON.stringify({ id, ...rest });
}

/**
 * Counts the records of a section and adds up their hashes. The sum does not depend on the order of
 * the records, which differs between stores.
 */
export class SectionChecksum<S extends Section> {
  count = 0;
  #sum = 0n;
  readonly #textOf: (record: Records[S], position: number) => string;

  constructor(section: S) {
    this.#textOf = (textOf[section] ?? rowText) as (record: Records[S], position: number) => string;
  }

  add(record: Records[S]): void {
    const text = this.#textOf(record, this.count);
    this.count++;
    this.#sum = BigInt.asUintN(128, this.#sum + BigInt(`0x${hash('sha256', text).slice(0, 32)}`));
  }

  /** The sum, in hex. */
  get checksum(): string {
    return this.#sum.toString(16).padStart(32, '0');
  }
}
