import { dayMs } from '../domain/clock.ts';
import type { CountedEvent } from '../domain/event.ts';
import { dayOf, type ReportClock, type ReportGroup } from '../domain/report.ts';
import { epochMs } from '../domain/scalars.ts';

/** A batch, as far as it is counted. */
export interface CountedBatch {
  venueId: string;
  screenId: string;
  /** Milliseconds. */
  receivedAt: number;
  events: readonly CountedEvent[];
}

/** What is counted. */
export interface Cell {
  impressions: number;
  seconds: number;
}

/** The impressions of one clock's day in one batch. */
export interface DayCount {
  clock: ReportClock;
  day: string;
  /** By group and key (ids in lower case). */
  cells: [ReportGroup, string, Cell][];
}

/** In this order they stand in documents: few rows first, so that a report by campaign need not read past the screens. */
export const groupOrder: readonly ReportGroup[] = ['day', 'campaign', 'creative', 'venue', 'screen'];

/** Adds to a cell. Absurd durations must not add up to what JSON cannot say. */
function add(cell: Cell, { impressions, seconds }: Cell): void {
  cell.impressions += impressions;
  cell.seconds = Math.min(cell.seconds + seconds, Number.MAX_VALUE);
}

/** Adds to the cell of a key. */
export function count(cells: Map<string, Cell>, key: string, more: Cell): void {
  const cell = cells.get(key);
  if (cell) add(cell, more);
  else cells.set(key, { impressions: more.impressions, seconds: more.seconds });
}

/** Two cells as one. */
export function sumOf(one: Cell, other: Cell): Cell {
  const sum = { impressions: one.impressions, seconds: one.seconds };
  add(sum, other);
  return sum;
}

/** A batch's impressions, summed up by themselves first: most batches have few days, campaigns and creatives. */
export function countBatch(record: CountedBatch): DayCount[] {
  const days = new Map<number, Sums>();
  for (const event of record.events) {
    if (event.type !== 'impression') continue;
    const day = Math.floor(epochMs(event.timestamp) / dayMs);
    const sums = days.get(day) ?? new Sums();
    days.set(day, sums);
    sums.add(event);
  }
  const counts = [...days].map(([day, sums]) => sums.of(record, 'timestamp', dayOf(day * dayMs)));
  return counts.length === 0 ? [] : [...counts, sumAll([...days.values()]).of(record, 'received', dayOf(record.receivedAt))];
}

function secondsOf({ duration }: CountedEvent): number {
  return typeof duration === 'number' && Number.isFinite(duration) ? duration : 0;
}

/** One impression, for as long as it is counted: there are hundreds of thousands a second. */
const once: Cell = { impressions: 1, seconds: 0 };

class Sums {
  readonly #campaigns = new Map<string, Cell>();
  readonly #creatives = new Map<string, Cell>();
  readonly #all: Cell = { impressions: 0, seconds: 0 };

  add(event: CountedEvent): void {
    once.seconds = secondsOf(event);
    count(this.#campaigns, event.campaignId ?? '', once);
    count(this.#creatives, event.creativeId ?? '', once);
    add(this.#all, once);
  }

  addAll(other: Sums): void {
    for (const [id, cell] of other.#campaigns) count(this.#campaigns, id, cell);
    for (const [id, cell] of other.#creatives) count(this.#creatives, id, cell);
    add(this.#all, other.#all);
  }

  of({ screenId, venueId }: CountedBatch, clock: ReportClock, day: string): DayCount {
    const cells: DayCount['cells'] = [
      ['day', day, this.#all],
      ['screen', screenId.toLowerCase(), this.#all],
      ['venue', venueId.toLowerCase(), this.#all],
    ];
    for (const [id, cell] of this.#campaigns) cells.push(['campaign', id.toLowerCase(), cell]);
    for (const [id, cell] of this.#creatives) cells.push(['creative', id.toLowerCase(), cell]);
    return { clock, day, cells };
  }
}

function sumAll(all: readonly Sums[]): Sums {
  const [only] = all;
  if (only && all.length === 1) return only;
  const sum = new Sums();
  for (const one of all) sum.addAll(one);
  return sum;
}

/** How all lines of one group and scope begin. */
export function sectionOf(group: ReportGroup, scope: string): string {
  return `["${groupOrder.indexOf(group)}-${group}",${JSON.stringify(scope)},`;
}
