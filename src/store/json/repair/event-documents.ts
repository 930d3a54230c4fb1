import type { EventRecord } from '../events/event-record.ts';
import { IdempotencyKeys, rememberedKeys } from '../events/idempotency-keys.ts';
import { prefixOf } from '../rollups/merge.ts';
import { Rollups } from '../rollups/rollups.ts';
import type { DamagedDocument } from './salvage-documents.ts';
import type { SalvagedEvents } from './salvage-events.ts';

/** Rebuilds one damaged document of the event log from the remaining events. */
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

  /** Later batches are applied by the next start. */
  apply(record: EventRecord): void {
    if (record.seq <= this.document.entry.seq) this.#owner.apply(record);
  }

  /**
   * Returns the rebuilt lines, and whether they are exact. Where events were lost, or deleted by
   * retention, only the readable lines still contain them. Those lines are kept, and missing ones
   * are added. `mayBeOlder`: the readable lines may lack the latest events.
   */
  async lines(
    { isComplete, days }: SalvagedEvents,
    mayBeOlder = false,
  ): Promise<{ lines: string[]; isExact: boolean }> {
    const { name, lines: kept } = this.document;
    const rebuilt: string[] = [];
    for await (const line of (await this.#owner.render(name, undefined))?.lines ?? [])
      rebuilt.push(line);
    const [, day = ''] = /^rollups-received-(.+)$/.exec(name) ?? [];
    if (isComplete || days.has(day)) return { lines: rebuilt, isExact: true };
    const isIdempotency = name.startsWith('rings-');
    const keyOf = isIdempotency ? (line: string) => line.slice(0, line.indexOf(',')) : prefixOf;
    const all = new Map(rebuilt.map((line) => [keyOf(line), line]));
    const join = isIdempotency ? joinKeys : largerCount;
    for (const line of kept) {
      const other = mayBeOlder ? all.get(keyOf(line)) : undefined;
      all.set(keyOf(line), other === undefined ? line : join(line, other));
    }
    return { lines: [...all.keys()].sort().map((key) => all.get(key) as string), isExact: false };
  }
}

/**
 * Neither line counts too much: the kept one may lack later events, the rebuilt one those that
 * retention deleted. The larger count is closer.
 */
function largerCount(kept: string, rebuilt: string): string {
  const impressionsIn = (line: string) =>
    Number(line.slice(prefixOf(line).length + 1).split(',')[0]);
  return impressionsIn(kept) > impressionsIn(rebuilt) ? kept : rebuilt;
}

/** Appends to the older keys the newer ones that they lack. */
function joinKeys(kept: string, rebuilt: string): string {
  const [id, older] = JSON.parse(kept) as [string, string];
  const [, newer] = JSON.parse(rebuilt) as [string, string];
  const before = entriesOf(older);
  const now = entriesOf(newer);
  const all =
    now.length >= rememberedKeys
      ? now
      : [...before, ...now.filter((entry) => !before.includes(entry))].slice(-rememberedKeys);
  return JSON.stringify([id, Buffer.from(all.join(''), 'hex').toString('base64')]);
}

/** Returns the entries in hex, oldest first. */
function entriesOf(encodedKeys: string): string[] {
  return Buffer.from(encodedKeys, 'base64').toString('hex').match(/.{32}/g) ?? [];
}

export function isEventDocument(name: string): boolean {
  return name.startsWith('rings-') || name.startsWith('rollups-');
}
