import { dayMs } from '../clock.ts';
import { epochMs } from '../fields.ts';
import type { CountedEvent } from './event.ts';

/** What is counted. */
export interface Cell {
  impressions: number;
  seconds: number;
}

/** Absurd durations must not add up to what JSON cannot say. */
export function sumOfSeconds(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_VALUE);
}

/** A cell to be added to. One that comes from a literal of zeros is for whole numbers alone, as the engine sees it, and is made anew as soon as it gets another. */
class Sum implements Cell {
  impressions: number;
  seconds: number;

  constructor({ impressions, seconds }: Cell) {
    this.impressions = impressions;
    this.seconds = seconds;
  }
}

/** Adds to a cell. */
export function addTo(cell: Cell, { impressions, seconds }: Cell): void {
  cell.impressions += impressions;
  cell.seconds = sumOfSeconds(cell.seconds, seconds);
}

/** Adds to the cell of a key. */
export function count(cells: Map<string, Cell>, key: string, more: Cell): void {
  const cell = cells.get(key);
  if (cell) addTo(cell, more);
  else cells.set(key, new Sum(more));
}

/** One impression, for as long as it is counted: there are hundreds of thousands a second. */
const once: Cell = { impressions: 1, seconds: 0 };

function secondsOf({ duration }: CountedEvent): number {
  return typeof duration === 'number' && Number.isFinite(duration) ? duration : 0;
}

const nothing: Cell = { impressions: 0, seconds: 0 };

/** Impressions of one day, by the ids that the events name, in lower case; none is the empty one. */
export class DaySums {
  /** Since 1970, in UTC, by the events' own clock. */
  readonly day: number;
  readonly campaigns = new Map<string, Cell>();
  readonly creatives = new Map<string, Cell>();
  readonly all: Cell = new Sum(nothing);

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
 * What is looked at in a batch of events, all else being bytes: it is added up while the batch is read. A batch waits for the disk, and the garbage collector
 * would have to carry a hundred events of each about meanwhile, where most batches have few days, campaigns and creatives.
 */
export class BatchSums {
  /** How many events there are. */
  length = 0;
  /** Each once. */
  readonly types: string[] = [];
  /** Each day once; of impressions alone. */
  readonly days: DaySums[] = [];

  /** `event` names its ids in lower case. */
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

/** Of events as they were sent: an id in capitals is the same. */
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
