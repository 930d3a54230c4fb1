import type { Weekday } from '../hours/local-times.ts';

/**
 * When an entry of a schedule holds: on days and at times of the venue, or between two instants
 * (docs/protocol.md §5.18).
 */
export interface EntryTimes {
  /** Absent: every day. */
  days?: readonly Weekday[] | null | undefined;
  /** Local time, such as `06:00`. Absent, with `to`: the whole day. */
  from?: string | null | undefined;
  /** Local time. Not after `from`: on the next day. */
  to?: string | null | undefined;
  /** Local dates on which the entry begins, such as `2026-12-01`, both inclusive. */
  dates?: EntryDates | null | undefined;
  /** Start, in Unix epoch milliseconds. Then the entry has neither days, times nor dates. */
  at?: number | null | undefined;
  /** End of an entry with `at`, in Unix epoch milliseconds. */
  until?: number | null | undefined;
}

interface EntryDates {
  from?: string | null | undefined;
  until?: string | null | undefined;
}

/** An entry of a schedule, without its items. */
export type NamedTimes = EntryTimes & {
  name?: string | null | undefined;
  /** Whether it plays the playlist of the screen. */
  base?: boolean | undefined;
};

/** Whether the entry has local times, whose meaning depends on the time zone of the venue. */
export function needsTimezone({ at }: EntryTimes): boolean {
  return at == null;
}

/** Id of an entry: its name, or its place in the schedule, counted from 1. */
export function entryIdOf({ name }: { name?: string | null | undefined }, place: number): string {
  return name ?? `entry-${place + 1}`;
}

/** Where nothing plays any more after the last entry. */
export const nothingId = 'nothing';
