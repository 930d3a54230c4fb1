import '@js-joda/timezone';
import { Instant, LocalDate, LocalDateTime, LocalTime, ZoneId } from '@js-joda/core';
import { weekdays } from '../../src/domain/hours/local-times.ts';
import type { EntryTimes } from '../../src/domain/schedule/entry-times.ts';

/** A calendar of another library, with rules of time zones of its own, to compare with. */

const rulesOf = (timezone: string) => ZoneId.of(timezone).rules();

/** Returns the instant of a local time, as `localClock` does. */
function instantOf(local: LocalDateTime, timezone: string, which: 'earlier' | 'later'): number {
  const rules = rulesOf(timezone);
  const offsets = rules.validOffsets(local);
  const offset = which === 'earlier' ? offsets[0] : offsets.at(-1);
  if (offset) return local.toInstant(offset).toEpochMilli();
  return rules.transition(local).instant().toEpochMilli();
}

/** Returns the local date at an instant. */
function dateAt(timeMs: number, timezone: string): LocalDate {
  return LocalDateTime.ofInstant(Instant.ofEpochMilli(timeMs), ZoneId.of(timezone)).toLocalDate();
}

/** Returns the beginnings and ends of an entry between two instants. */
function timesOf(entry: EntryTimes, timezone: string, range: Range): (readonly [number, number])[] {
  const { days, from, to, dates, at, until } = entry;
  if (at != null) return [[at, until ?? at]];
  const start = LocalTime.parse(from ?? '00:00');
  const end = LocalTime.parse(to ?? '00:00');
  const first = dateAt(range.fromMs, timezone).minusDays(1);
  const count = dateAt(range.untilMs, timezone).toEpochDay() - first.toEpochDay() + 1;
  return Array.from({ length: count }, (_, place) => first.plusDays(place)).flatMap((date) => {
    if (days && !days.includes(weekdays[date.dayOfWeek().value() - 1] ?? 'mon')) return [];
    if (dates?.from && date.isBefore(LocalDate.parse(dates.from))) return [];
    if (dates?.until && date.isAfter(LocalDate.parse(dates.until))) return [];
    const endDate = end.isAfter(start) ? date : date.plusDays(1);
    const begins = instantOf(date.atTime(start), timezone, 'earlier');
    return [[begins, instantOf(endDate.atTime(end), timezone, 'later')] as const];
  });
}

interface Range {
  fromMs: number;
  untilMs: number;
}

/** Returns the switches of a schedule between two instants. `place`: `null` for no entry. */
export function switchesOf(entries: readonly EntryTimes[], timezone: string, range: Range) {
  const times = entries.map((entry) => timesOf(entry, timezone, range));
  const isWithin = (timeMs: number) => timeMs > range.fromMs && timeMs < range.untilMs;
  const instants = [...new Set([range.fromMs, ...times.flat(2).filter(isWithin)])];
  const switches: { fromMs: number; place: number | null }[] = [];
  for (const fromMs of instants.sort((a, b) => a - b)) {
    const found = times.findIndex((all) => all.some(([from, to]) => from <= fromMs && fromMs < to));
    const place = found < 0 ? null : found;
    if (switches.length === 0 || switches.at(-1)?.place !== place) switches.push({ fromMs, place });
  }
  return switches;
}

const dayMs = 86_400_000;

/** Returns the first instants of the UTC days on which the offset of a time zone changes. */
export function daysOfChange(timezone: string, fromYear: number, untilYear: number): number[] {
  const offsetAt = (timeMs: number) =>
    rulesOf(timezone).offset(Instant.ofEpochMilli(timeMs)).totalSeconds();
  const days: number[] = [];
  for (let day = Date.UTC(fromYear); day < Date.UTC(untilYear + 1); day += dayMs)
    if (offsetAt(day) !== offsetAt(day + dayMs)) days.push(day);
  return days;
}
