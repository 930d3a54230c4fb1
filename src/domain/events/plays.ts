import { dayMs } from '../clock.ts';
import { epochMs } from '../fields.ts';
import type { CountedEvent } from './event.ts';

/** Ids of what was played, in lower case. */
export interface PlayKey {
  creativeId: string;
  /** Empty: an item without a campaign, whose events are `play`. */
  campaignId: string;
  /** The entry of the schedule, or `takeover`. Empty: neither. */
  entryId: string;
}

/** Number of events with one key. Those that are neither partial nor unknown are full. */
export interface PlayCount {
  events: number;
  /** Sum of their durations. */
  seconds: number;
  /** Shorter than planned. */
  partial: number;
  /** Without a planned or a real duration. */
  unknown: number;
}

export type PlayCell = PlayKey & PlayCount;

/** Events of one UTC day and one local day, by key. Days are counted from 1 January 1970. */
export interface DayPlays {
  day: number;
  localDay: number;
  cells: Map<string, PlayCell>;
}

/** A play that misses at most half a second is full. */
const missingSeconds = 0.5;
/** No item lasts longer (docs/protocol.md §5.4). */
const longestSeconds = 86_400;
const lastTimeMs = Date.UTC(9999, 11, 31);
/** Longer ids of entries are ignored. Names have at most 200 characters. */
const maxEntryId = 400;

/** Adds two durations. The sum is capped, because JSON has no infinity. */
export function sumOfSeconds(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_VALUE);
}

/**
 * Returns a sum of durations without the digits of binary fractions that no TV has reported.
 */
export function roundedSeconds(seconds: number): number {
  const rounded = Math.round(seconds * 1000) / 1000;
  return Number.isFinite(rounded) ? rounded : seconds;
}

/**
 * Returns a duration in seconds, at most that of the longest item. `undefined`: none that can be
 * added.
 */
function durationOf(value: unknown): number | undefined {
  const isDuration = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return isDuration ? Math.min(value, longestSeconds) : undefined;
}

export const secondsOf = ({ duration }: Pick<CountedEvent, 'duration'>): number =>
  durationOf(duration) ?? 0;

/**
 * Returns whether an impression or play lasted as long as planned, by what its TV reports.
 * `undefined`: it does not say (docs/protocol.md §5.6).
 */
export function isFull({ duration, plannedDuration }: CountedEvent): boolean | undefined {
  const played = durationOf(duration);
  const planned = durationOf(plannedDuration);
  if (played === undefined || planned === undefined) return undefined;
  return played >= planned - missingSeconds;
}

/** Returns the entry of a schedule that an event names, or an empty string. */
export function entryOf({ entryId }: Pick<CountedEvent, 'entryId'>): string {
  const isName = typeof entryId === 'string' && entryId.length <= maxEntryId;
  // PostgreSQL cannot store the others.
  return isName && entryId.isWellFormed() && !entryId.includes('\0') ? entryId : '';
}

/**
 * Returns the day of a time on a clock that is `offsetSeconds` ahead of UTC. Times after the year
 * 9999 count towards its last day.
 */
export function dayNumber(timeMs: number, offsetSeconds = 0): number {
  return Math.floor(Math.min(timeMs + offsetSeconds * 1000, lastTimeMs) / dayMs);
}

export const textOfKey = ({ creativeId, campaignId, entryId }: PlayKey): string =>
  `${creativeId}\n${campaignId}\n${entryId}`;

/** Adds counts to the cell of a key. Creates the cell if necessary. */
export function addCell(cells: Map<string, PlayCell>, text: string, more: PlayCell): void {
  const cell = cells.get(text);
  if (cell) addCount(cell, more);
  else cells.set(text, { ...more });
}

export function addCount(cell: PlayCount, more: PlayCount): void {
  cell.events += more.events;
  cell.seconds = sumOfSeconds(cell.seconds, more.seconds);
  cell.partial += more.partial;
  cell.unknown += more.unknown;
}

/** Adds an impression or play as sent to the counts of its days. Its ids may be in upper case. */
export function addPlay(days: DayPlays[], event: CountedEvent, offsetSeconds: number): void {
  const timeMs = Math.max(0, epochMs(event.timestamp));
  const day = dayNumber(timeMs);
  const localDay = dayNumber(timeMs, offsetSeconds);
  let plays = days.find((one) => one.day === day && one.localDay === localDay);
  if (!plays) {
    plays = { day, localDay, cells: new Map() };
    days.push(plays);
  }
  const full = isFull(event);
  const cell: PlayCell = {
    creativeId: event.creativeId?.toLowerCase() ?? '',
    campaignId: event.type === 'play' ? '' : (event.campaignId?.toLowerCase() ?? ''),
    entryId: entryOf(event),
    events: 1,
    seconds: secondsOf(event),
    partial: full === false ? 1 : 0,
    unknown: full === undefined ? 1 : 0,
  };
  addCell(plays.cells, textOfKey(cell), cell);
}
