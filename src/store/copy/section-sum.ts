import { hash } from 'node:crypto';
import type { CopiedBatch, CopiedImpressions, CopiedMarks, Records, Section } from './transfer.ts';

/** The texts that are summed up. Of rows the id comes first, for one store keeps them so; all else keeps its order, for it may be answered as it is. */
const texts: { [S in Section]?: (record: Records[S], place: number) => string } = {
  batches: ({ seq, receivedAt, tenantId, venueId, screenId, deviceId, body }: CopiedBatch) =>
    `${seq} ${receivedAt} ${tenantId} ${venueId} ${screenId} ${deviceId} ${body}`,
  // One after the other is all the order that there is.
  audit: (entry, place) => `${place} ${JSON.stringify(entry)}`,
  idempotency: ({ deviceId, keys }) => `${deviceId} ${keys.join(' ')}`,
  impressions: ({ scope, clock, group, day, key, impressions, seconds }: CopiedImpressions) =>
    JSON.stringify([scope, clock, group, day, key, impressions, seconds]),
  marks: ({ kind, id, marks }: CopiedMarks) =>
    `${kind} ${id} ${JSON.stringify(Object.entries(marks).sort())}`,
};

function rowText({ id, ...rest }: { id: string }): string {
  return JSON.stringify({ id, ...rest });
}

/** Counts the records of a section and sums up their hashes, so that the order in which they come says nothing: stores differ in it. */
export class SectionSum<S extends Section> {
  count = 0;
  #sum = 0n;
  readonly #textOf: (record: Records[S], place: number) => string;

  constructor(section: S) {
    this.#textOf = (texts[section] ?? rowText) as (record: Records[S], place: number) => string;
  }

  add(record: Records[S]): void {
    const text = this.#textOf(record, this.count);
    this.count++;
    this.#sum = BigInt.asUintN(128, this.#sum + BigInt(`0x${hash('sha256', text).slice(0, 32)}`));
  }

  /** In hex. */
  get checksum(): string {
    return this.#sum.toString(16).padStart(32, '0');
  }
}
