import { dayMs } from '../domain/clock.ts';
import type { BatchSums } from '../domain/events/batch-counts.ts';
import {
  addCell,
  type DayPlays,
  dayNumber,
  type PlayCell,
  type PlayCount,
} from '../domain/events/plays.ts';
import { dayOf, firstDay, type ReportClock } from '../domain/records/report.ts';
import { lastDay } from './impression-counts.ts';
import type { PlayPlace } from './queries.ts';

/** Counts of a batch on one UTC day and local day, by one clock. */
export interface CountedPlays extends Pick<PlayPlace, 'clock' | 'day' | 'shift'> {
  cells: Map<string, PlayCell>;
}

/** Counts a batch by the times of its events, and by its receipt. */
export function countPlays({ plays, offsets }: BatchSums, receivedAt: number): CountedPlays[] {
  if (plays.length === 0) return [];
  const byTimestamp = plays.map(
    ({ day, localDay, cells }): CountedPlays => ({
      clock: 'timestamp',
      day,
      shift: localDay - day,
      cells,
    }),
  );
  const day = dayNumber(receivedAt);
  const shift = dayNumber(receivedAt, offsets?.at(-1)) - day;
  return [...byTimestamp, { clock: 'received', day, shift, cells: cellsOfAll(plays) }];
}

function cellsOfAll(plays: readonly DayPlays[]): Map<string, PlayCell> {
  const [first] = plays;
  if (first && plays.length === 1) return first.cells;
  const cells = new Map<string, PlayCell>();
  for (const one of plays) for (const [text, cell] of one.cells) addCell(cells, text, cell);
  return cells;
}

/**
 * The first part of a line or of a key: JSON without its end. Bytewise order is the order of
 * tenants, days, venues and screens.
 */
export function placeText(place: Omit<PlayPlace, 'clock'>): string {
  const { tenantId, venueId, screenId, day, shift, simulated } = place;
  const members = [tenantId, String(day).padStart(7, '0'), venueId, screenId, shift];
  return `${JSON.stringify(members).slice(0, -1)},${simulated ? 1 : 0}`;
}

export function parsePlace(text: string, clock: ReportClock): PlayPlace {
  const [tenantId, day, venueId, screenId, shift, simulated] = JSON.parse(`${text}]`);
  return { clock, tenantId, venueId, screenId, simulated: simulated === 1, day: +day, shift };
}

/** Returns the day that names a document, or `other` for days of wrong clocks. */
export function documentDay(day: number): string {
  const name = dayOf(day * dayMs);
  return name >= firstDay && name <= lastDay ? name : 'other';
}

/** Sorts by key, so that equal counts have equal records in every store. */
export function sortedCells(cells: Map<string, PlayCell>): PlayCell[] {
  const texts = [...cells.keys()].sort();
  return texts.map((text) => cells.get(text) as PlayCell);
}

/** Returns counts as `number,events,seconds,partial,unknown;…`, without zeros at the end. */
export function textOfCells(cells: Iterable<readonly [number: number, PlayCount]>): string {
  return Array.from(cells, ([number, { events, seconds, partial, unknown }]) => {
    const rest = unknown === 0 ? (partial === 0 ? '' : `,${partial}`) : `,${partial},${unknown}`;
    return `${number},${events},${seconds}${rest}`;
  }).join(';');
}

const comma = 0x2c;
const semicolon = 0x3b;
const zero = 0x30;
/** A double represents integers of this many digits exactly. */
const maxExactDigits = 15;
/** Number of the key, events, seconds, partial, unknown. */
const fieldsOfCell = 5;

/** Reads what `textOfCells` wrote, from `start` to `end` of a text. */
export function readCells<K>(
  text: string,
  start: number,
  end: number,
  keyOf: (number: number) => K | undefined,
  visit: (key: K, events: number, seconds: number, partial: number, unknown: number) => void,
): void {
  const fields = [0, 0, 0, 0, 0] as [number, number, number, number, number];
  for (let at = start; at < end; at++) {
    fields[3] = 0;
    fields[4] = 0;
    for (let field = 0; field < fieldsOfCell; field++) {
      const from = at;
      let value = 0;
      let code = text.charCodeAt(at);
      for (; code >= zero && code <= zero + 9; code = text.charCodeAt(++at))
        value = value * 10 + code - zero;
      if (at - from > maxExactDigits || (code !== comma && code !== semicolon && at < end)) {
        while (at < end && code !== comma && code !== semicolon) code = text.charCodeAt(++at);
        value = Number(text.slice(from, at));
      }
      fields[field] = value;
      if (at >= end || code !== comma) break;
      at++;
    }
    const key = keyOf(fields[0]);
    if (key !== undefined) visit(key, fields[1], fields[2], fields[3], fields[4]);
  }
}
