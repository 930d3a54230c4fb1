import { dayMs } from '../clock.ts';
import { epochMs } from '../fields.ts';
import type { CountedEvent } from './event.ts';

/** Counts of impressions. */
export interface ImpressionCount {
  impressions: number;
  seconds: number;
}

/** Adds two durations. Caps the sum, because JSON has no infinity. */
function sumOfSeconds(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_VALUE);
}

/**
 * A mutable cell. A class, because an object literal of zeros gets a hidden class for small
 * integers, and V8 replaces that at the first fraction.
 */
class Sum implements ImpressionCount {
  impressions: number;
  seconds: number;

  constructor({ impressions, seconds }: ImpressionCount) {
    this.impressions = impressions;
    this.seconds = seconds;
  }
}

/** Adds one cell to another. */
export function addTo(cell: ImpressionCount, { impressions, seconds }: ImpressionCount): void {
  cell.impressions += impressions;
  cell.seconds = sumOfSeconds(cell.seconds, seconds);
}

/** Adds to the cell of a key, creating it if necessary. */
export function count(
  cells: Map<string, ImpressionCount>,
  key: string,
  more: ImpressionCount,
): void {
  const cell = cells.get(key);
  if (cell) addTo(cell, more);
  else cells.set(key, new Sum(more));
}

/** A single impression, reused to avoid hundreds of thousands of allocations per second. */
const once: ImpressionCount = { impressions: 1, seconds: 0 };

function secondsOf({ duration }: CountedEvent): number {
  return typeof duration === 'number' && Number.isFinite(duration) ? duration : 0;
}

const nothing: ImpressionCount = { impressions: 0, seconds: 0 };

/**
 * Impressions of one day, by campaign and by creative. Ids are in lower case; events without an id
 * count under the empty string.
 */
export class DaySums {
  /** Days since 1970 in UTC, by the clock of the events. */
  readonly day: number;
  readonly campaigns = new Map<string, ImpressionCount>();
  readonly creatives = new Map<string, ImpressionCount>();
  readonly all: ImpressionCount = new Sum(nothing);

  constructor(day: number) {
    this.day = day;
  }

  add(event: CountedEvent): void {
    once.seconds = secondsOf(event);
    count(this.campaigns, event.campaignId ?? '', once);
    count(this.creatives, event.creativeId ?? '', once);
    addTo(this.all, once);
  }

  addAll({ campaigns, creatives, all }: DaySums): void {
    for (const [id, cell] of campaigns) count(this.campaigns, id, cell);
    for (const [id, cell] of creatives) count(this.creatives, id, cell);
    addTo(this.all, all);
  }
}

/**
 * The sums of a batch of events, added up while it is parsed. A batch waits for the disk. Keeping a
 * hundred event objects meanwhile would burden the garbage collector, while most batches have few
 * days, campaigns and creatives.
 */
export class BatchSums {
  /** Number of events. */
  length = 0;
  /** Distinct event types. */
  readonly types: string[] = [];
  /** Sums of impressions by distinct day. */
  readonly days: DaySums[] = [];

  /** Adds an event whose ids are in lower case. */
  add(event: CountedEvent): void {
    this.length++;
    if (!this.types.includes(event.type)) this.types.push(event.type);
    if (event.type === 'impression')
      this.#sumsOf(Math.floor(epochMs(event.timestamp) / dayMs)).add(event);
  }

  #sumsOf(day: number): DaySums {
    const known = this.days.find((sums) => sums.day === day);
    if (known) return known;
    const made = new DaySums(day);
    this.days.push(made);
    return made;
  }
}

/** Returns the sums of events as sent. Ids may be in upper case. */
export function batchSums(events: readonly CountedEvent[]): BatchSums {
  const sums = new BatchSums();
  for (const event of events) {
    const { campaignId, creativeId } = event;
    sums.add({
      ...event,
      campaignId: campaignId?.toLowerCase(),
      creativeId: creativeId?.toLowerCase(),
    });
  }
  return sums;
}
