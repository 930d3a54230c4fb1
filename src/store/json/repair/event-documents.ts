import type { EventRecord } from '../events/event-record.ts';
import { IdempotencyKeys, rememberedKeys } from '../events/idempotency-keys.ts';
import { prefixOf } from '../rollups/merge.ts';
import { Rollups } from '../rollups/rollups.ts';
import type { DamagedDocument } from './salvage-documents.ts';
import type { SalvagedEvents } from './salvage-events.ts';

/** Counts one damaged document of the event log again, from the events that are there. */
export class EventDocument {
  readonly document: DamagedDocument;
  readonly #owner: IdempotencyKeys | Rollups;

  constructor(document: DamagedDocument) {
    const progress = { seq: () => document.entry.seq, due: () => true };
    this.document = document;
    this.#owner = document.name.startsWith('rings-')
      ? new IdempotencyKeys(progress)
      : new Rollups(progress);
  }

  /** Those that come later are counted by the next start. */
  apply(record: EventRecord): void {
    if (record.seq <= this.document.entry.seq) this.#owner.apply(record);
  }

  /**
   * Its lines, and whether they are all that was in it. Where events are missing, those that were lost or dropped by retention are in the readable
   * lines alone: these stay, and others are added. `mayBeOlder`: the lines may lack what the last events brought.
   */
  async lines(
    { isComplete, days }: SalvagedEvents,
    mayBeOlder = false,
  ): Promise<{ lines: string[]; isExact: boolean }> {
    const { name, lines: kept } = this.document;
    const counted: string[] = [];
    for await (const line of (await this.#owner.render(name, undefined))?.lines ?? [])
      counted.push(line);
    const [, day = ''] = /^rollups-received-(.+)$/.exec(name) ?? [];
    if (isComplete || days.has(day)) return { lines: counted, isExact: true };
    const isRing = name.startsWith('rings-');
    const keyOf = isRing ? (line: string) => line.slice(0, line.indexOf(',')) : prefixOf;
    const all = new Map(counted.map((line) => [keyOf(line), line]));
    const joined = isRing ? joinedRing : fullerCell;
    for (const line of kept) {
      const other = mayBeOlder ? all.get(keyOf(line)) : undefined;
      all.set(keyOf(line), other === undefined ? line : joined(line, other));
    }
    return { lines: [...all.keys()].sort().map((key) => all.get(key) as string), isExact: false };
  }
}

/** Neither counts too much: the one lacks what came later, the other what retention has dropped. */
function fullerCell(kept: string, counted: string): string {
  const impressionsIn = (line: string) =>
    Number(line.slice(prefixOf(line).length + 1).split(',')[0]);
  return impressionsIn(kept) > impressionsIn(counted) ? kept : counted;
}

/** What an older ring has, and after that what it lacks of a newer one. */
function joinedRing(kept: string, counted: string): string {
  const [id, older] = JSON.parse(kept) as [string, string];
  const [, newer] = JSON.parse(counted) as [string, string];
  const [before, now] = [entriesOf(older), entriesOf(newer)];
  const all =
    now.length >= rememberedKeys
      ? now
      : [...before, ...now.filter((entry) => !before.includes(entry))].slice(-rememberedKeys);
  return JSON.stringify([id, Buffer.from(all.join(''), 'hex').toString('base64')]);
}

/** In hex, oldest first. */
function entriesOf(ring: string): string[] {
  return Buffer.from(ring, 'base64').toString('hex').match(/.{32}/g) ?? [];
}

export function isEventDocument(name: string): boolean {
  return name.startsWith('rings-') || name.startsWith('rollups-');
}
