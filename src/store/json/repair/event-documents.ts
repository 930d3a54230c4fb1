import type { EventRecord } from '../event-record.ts';
import { IdempotencyRings } from '../idempotency-rings.ts';
import { prefixOf } from '../rollup-lines.ts';
import { Rollups } from '../rollups.ts';
import type { DamagedDocument } from './salvage-documents.ts';
import type { SalvagedEvents } from './salvage-events.ts';

/** Counts one damaged document of the event log again, from the events that are there. */
export class EventDocument {
  readonly document: DamagedDocument;
  readonly #owner: IdempotencyRings | Rollups;

  constructor(document: DamagedDocument) {
    const progress = { seq: () => document.entry.seq, due: () => true };
    this.document = document;
    this.#owner = document.name.startsWith('rings-') ? new IdempotencyRings(progress) : new Rollups(progress);
  }

  /** Those that come later are counted by the next start. */
  apply(record: EventRecord): void {
    if (record.seq <= this.document.entry.seq) this.#owner.apply(record);
  }

  /**
   * Its lines, and whether they are all that was in it. Where events are missing, those that were lost or dropped by retention are in the readable
   * lines alone: these stay, and others are added.
   */
  async lines({ isComplete, days }: SalvagedEvents): Promise<{ lines: string[]; isExact: boolean }> {
    const { name, lines: kept } = this.document;
    const counted: string[] = [];
    for await (const line of (await this.#owner.render(name, undefined))?.lines ?? []) counted.push(line);
    const [, day = ''] = /^rollups-received-(.+)$/.exec(name) ?? [];
    if (isComplete || days.has(day)) return { lines: counted, isExact: true };
    const keyOf = name.startsWith('rings-') ? (line: string) => line.slice(0, line.indexOf(',')) : prefixOf;
    const all = new Map([...counted, ...kept].map((line) => [keyOf(line), line]));
    return { lines: [...all.keys()].sort().map((key) => all.get(key) as string), isExact: false };
  }
}

export function isEventDocument(name: string): boolean {
  return name.startsWith('rings-') || name.startsWith('rollups-');
}
