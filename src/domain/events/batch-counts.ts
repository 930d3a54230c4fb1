import { dayMs } from '../clock.ts';
import { epochMs } from '../fields.ts';
import type { CountedEvent } from './event.ts';
import { addPlay, type DayPlays, entryOf, secondsOf, sumOfSeconds } from './plays.ts';
import { addNumber, type NumberRange } from './sequence.ts';

/** Number of impressions, and the sum of their durations. */
export interface ImpressionCount {
  impressions: number;
  seconds: number;
}

export function addTo(cell: ImpressionCount, { impressions, seconds }: ImpressionCount): void {
  cell.impressions += impressions;
  cell.seconds = sumOfSeconds(cell.seconds, seconds);
}

/** Adds `more` to the cell of a key. Creates the cell if necessary. */
export function addCount(
  cells: Map<string, ImpressionCount>,
  key: string,
  more: ImpressionCount,
): void {
  const cell = cells.get(key);
  if (cell) addTo(cell, more);
  else cells.set(key, { ...more });
}

/**
 * Impressions of one day, by campaign, by creative, and by entry of a schedule. Ids of campaigns
 * and creatives are in lower case. Events without one count under the empty string.
 */
export class DaySums {
  /** Days since 1970 in UTC, by the timestamps of the events. */
  readonly day: number;
  readonly campaigns = new Map<string, ImpressionCount>();
  readonly creatives = new Map<string, ImpressionCount>();
  /** Without the impressions of the playlists below schedules. */
  readonly entries = new Map<string, ImpressionCount>();
  readonly all: ImpressionCount = { impressions: 0, seconds: 0 };

  constructor(day: number) {
    this.day = day;
  }

  /** Adds an impression as sent. Its ids may be in upper case. */
  add(event: CountedEvent): void {
    const once: ImpressionCount = { impressions: 1, seconds: secondsOf(event) };
    addCount(this.campaigns, event.campaignId?.toLowerCase() ?? '', once);
    addCount(this.creatives, event.creativeId?.toLowerCase() ?? '', once);
    const entryId = entryOf(event);
    if (entryId !== '') addCount(this.entries, entryId, once);
    addTo(this.all, once);
  }

  addAll({ campaigns, creatives, entries, all }: DaySums): void {
    for (const [id, cell] of campaigns) addCount(this.campaigns, id, cell);
    for (const [id, cell] of creatives) addCount(this.creatives, id, cell);
    for (const [id, cell] of entries) addCount(this.entries, id, cell);
    addTo(this.all, all);
  }
}

/**
 * Sums of a batch of events, kept while the batch waits for the disk. They replace the event
 * objects, which would burden the garbage collector. The sums are small, because most batches have
 * few days, campaigns and creatives.
 */
export class BatchSums {
  /** Number of events. */
  length = 0;
  /** Distinct event types. */
  readonly types: string[] = [];
  /** Sums of impressions, one element per day. Only of batches without `offsets`. */
  readonly days: DaySums[] = [];
  /** Sums of impressions and plays, one element per UTC day and local day. */
  readonly plays: DayPlays[] = [];
  /**
   * How far the clock of the venue was ahead of UTC at each event, and last at the receipt, in
   * seconds. A single number: the same at all of them. `undefined`: a batch of 0.1.0, whose
   * impressions have UTC days only.
   */
  readonly offsets: readonly number[] | undefined;

  constructor(offsets?: readonly number[]) {
    this.offsets = offsets;
  }
  /** Sequence numbers as ranges, in the order of the events (docs/protocol.md §2.5). */
  readonly numbers: NumberRange[] = [];

  add(event: CountedEvent): void {
    this.length++;
    if (event.seq !== undefined) addNumber(this.numbers, event.seq);
    if (!this.types.includes(event.type)) this.types.push(event.type);
    if (event.type !== 'impression' && event.type !== 'play') return;
    if (this.offsets) {
      const offset = this.offsets.length === 1 ? this.offsets[0] : this.offsets[this.length - 1];
      addPlay(this.plays, event, offset ?? 0);
      return;
    }
    if (event.type !== 'impression') return;
    const day = Math.floor(epochMs(event.timestamp) / dayMs);
    let sums = this.days.find((one) => one.day === day);
    if (!sums) {
      sums = new DaySums(day);
      this.days.push(sums);
    }
    sums.add(event);
  }
}

export function batchSums(events: readonly CountedEvent[], offsets?: readonly number[]): BatchSums {
  const sums = new BatchSums(offsets);
  for (const event of events) sums.add(event);
  return sums;
}
