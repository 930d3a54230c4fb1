import { type SequenceState, summaryOf } from '../../../domain/events/sequence.ts';
import type { EventRecord } from '../events/event-record.ts';
import { IdempotencyKeys, keyEntries, rememberedKeys } from '../events/idempotency-keys.ts';
import { Sequences } from '../events/sequences.ts';
import { prefixOf } from '../rollups/merge.ts';
import { Rollups } from '../rollups/rollups.ts';
import type { DamagedDocument } from './salvage-documents.ts';
import type { SalvagedEvents } from './salvage-events.ts';

/** Rebuilds one damaged document of the event log from the remaining events. */
export class EventDocument {
  readonly document: DamagedDocument;
  readonly #owner: IdempotencyKeys | Rollups | Sequences;

  constructor(document: DamagedDocument) {
    const progress = { seq: () => document.entry.seq, due: () => true };
    this.document = document;
    const Owner = owners[kindOf(document.name)];
    this.#owner = new Owner(progress);
  }

  /** Applies a batch. Skips batches after the document's `seq`, which the next start applies. */
  apply(record: EventRecord): void {
    if (record.seq <= this.document.entry.seq) this.#owner.apply(record);
  }

  /**
   * Returns the lines of the document, and whether they are exact. If events are missing, readable
   * lines of the damaged document take precedence, since they may include those events.
   * `mayBeOlder`: readable lines may lack the latest events, so they are merged with the rebuilt
   * lines.
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
    const keyOf = name.startsWith('rollups-') ? prefixOf : deviceOf;
    const all = new Map(rebuilt.map((line) => [keyOf(line), line]));
    const join = joins[kindOf(name)];
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
  const before = keyEntries(older);
  const now = keyEntries(newer);
  const all =
    now.length >= rememberedKeys
      ? now
      : [...before, ...now.filter((entry) => !before.includes(entry))].slice(-rememberedKeys);
  return JSON.stringify([id, Buffer.from(all.join(''), 'hex').toString('base64')]);
}

const owners = { rings: IdempotencyKeys, rollups: Rollups, sequences: Sequences };
type Kind = keyof typeof owners;

const joins: Record<Kind, (kept: string, rebuilt: string) => string> = {
  rings: joinKeys,
  rollups: largerCount,
  sequences: furtherNumbers,
};

const kindOf = (name: string) => name.slice(0, name.indexOf('-')) as Kind;
/** Returns the part of a line that has the id of the device. */
const deviceOf = (line: string) => line.slice(0, line.indexOf(','));

/**
 * Returns the line with the higher last number. On a tie, returns `kept`, which also counts deleted
 * batches.
 */
function furtherNumbers(kept: string, rebuilt: string): string {
  const lastIn = (line: string) =>
    summaryOf((JSON.parse(line) as [string, SequenceState])[1]).lastSeq;
  return lastIn(kept) >= lastIn(rebuilt) ? kept : rebuilt;
}

export function isEventDocument(name: string): boolean {
  return kindOf(name) in owners;
}
