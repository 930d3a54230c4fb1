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

  /** Applies a batch up to the document's `seq`. The next start applies later batches. */
  apply(record: EventRecord): void {
    if (record.seq <= this.document.entry.seq) this.#owner.apply(record);
  }

  /**
   * Returns the lines of the document, and whether they are exact. If events are missing, readable
   * lines of the damaged document take precedence, since they include those events. `mayBeOlder`:
   * readable lines may lack the latest events, so they are merged with the rebuilt lines.
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
 * Returns the line with the larger count. `kept` may lack later events, and `rebuilt` lacks events
 * that retention deleted. Neither count is too large, so the larger one is closer to the truth.
 */
function largerCount(kept: string, rebuilt: string): string {
  const impressionsIn = (line: string) =>
    Number(line.slice(prefixOf(line).length + 1).split(',')[0]);
  return impressionsIn(kept) > impressionsIn(rebuilt) ? kept : rebuilt;
}

/** Appends the rebuilt keys that `kept` lacks to the keys of `kept`. Keeps the newest 128. */
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
