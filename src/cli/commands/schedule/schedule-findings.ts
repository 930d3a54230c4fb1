import { dateOf, type LocalClock, localClock, weekdayOf } from '../../../calendar/local-clock.ts';
import {
  type Interval,
  intervalsOf,
  type Span,
  scheduleSpans,
} from '../../../calendar/schedule-spans.ts';
import { dayMs } from '../../../domain/clock.ts';
import { largest } from '../../../domain/numbers/extremes.ts';
import type { NamedTimes } from '../../../domain/schedule/entry-times.ts';
import { entryIdOf, needsTimezone } from '../../../domain/schedule/entry-times.ts';
import { countText } from '../../terminal/text.ts';

/** What `schedule check` found. An error means that an entry never plays as it is written. */
export interface ScheduleFinding {
  level: 'error' | 'warning' | 'info';
  /** Id of the entry. `null`: the schedule as a whole. */
  entry: string | null;
  problem: 'timezone' | 'hidden' | 'partly_hidden' | 'never' | 'over' | 'base' | 'media';
  detail: string;
}

interface CheckOptions {
  entries: readonly NamedTimes[];
  /** `null`: the venue has none, or none was given. */
  timezone: string | null;
  /** The venue that has no time zone. `undefined`: no venue was named. */
  venue?: string | undefined;
  nowMs: number;
  /** What was found in its media. */
  media?: readonly ScheduleFinding[];
}

/** Entries are looked at for at least a year and a month. */
const horizonMs = 400 * dayMs;
/** Dates later than that are not looked at. */
const longestMs = 10 * 366 * dayMs;

const overlapMs = (one: Interval, other: Interval) =>
  Math.min(one.untilMs, other.untilMs) - Math.max(one.fromMs, other.fromMs);

const timeText = (minute: number) =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** Returns the time at which the last entry with dates or instants is over. */
function horizonOf(entries: readonly NamedTimes[], nowMs: number): number {
  const ends = entries.flatMap(({ dates, at, until }) => [
    ...[dates?.from, dates?.until].map((date) => (date ? Date.parse(date) + 7 * dayMs : 0)),
    until ?? at ?? 0,
  ]);
  return Math.min(largest([nowMs + horizonMs, ...ends]), nowMs + longestMs);
}

function momentText(timeMs: number, clock: LocalClock): string {
  return `${dateOf(clock.dayAt(timeMs))} at ${timeText(clock.minuteAt(timeMs))}`;
}

/** Says which entries play instead of one, and when first. */
function hiddenFinding(
  place: number,
  own: readonly Interval[],
  spans: readonly Span[],
  { entries }: Pick<CheckOptions, 'entries'>,
  clock: LocalClock,
): ScheduleFinding | undefined {
  const hiding = new Set<number>();
  const hidden: Interval[] = [];
  let plays = false;
  let at = 0;
  for (const interval of own) {
    while (at > 0 && (spans[at]?.fromMs ?? 0) > interval.fromMs) at--;
    while ((spans[at]?.untilMs ?? Number.POSITIVE_INFINITY) <= interval.fromMs) at++;
    for (let index = at; index < spans.length; index++) {
      const span = spans[index] as Span;
      if (span.fromMs >= interval.untilMs) break;
      if (overlapMs(span, interval) <= 0) continue;
      if (span.place === place) plays = true;
      else if (span.place !== null) {
        hiding.add(span.place);
        hidden.push({
          fromMs: Math.max(span.fromMs, interval.fromMs),
          untilMs: Math.min(span.untilMs, interval.untilMs),
        });
      }
    }
  }
  const [first] = hidden;
  if (!first) return undefined;
  const entry = entryIdOf(entries[place] ?? {}, place);
  const names = [...hiding].sort((a, b) => a - b).map((one) => entryIdOf(entries[one] ?? {}, one));
  const shown = names.map((name) => `"${name}"`).join(', ');
  const verb = names.length === 1 ? 'stands' : 'stand';
  if (!plays)
    return {
      level: 'error',
      entry,
      problem: 'hidden',
      detail: `It never plays: ${shown} ${verb} above it and ${names.length === 1 ? 'holds' : 'hold'} whenever it would.`,
    };
  const times = hidden.length === 1 ? 'once' : `first of ${countText(hidden.length, 'time')}`;
  const isDated = ({ dates, at }: NamedTimes = {}) => dates != null || at != null;
  // A holiday below the entries of every week is a mistake; among these, an order is wanted.
  const isMistake = isDated(entries[place]) && [...hiding].some((one) => !isDated(entries[one]));
  const remedy = isMistake ? ` Put it above ${names.length === 1 ? 'that entry' : 'them'}.` : '';
  return {
    level: isMistake ? 'warning' : 'info',
    entry,
    problem: 'partly_hidden',
    detail: `${shown} ${names.length === 1 ? 'plays' : 'play'} instead, ${times} on ${momentText(first.fromMs, clock)}.${remedy}`,
  };
}

function neverFinding(
  { entries, nowMs }: CheckOptions,
  place: number,
  clock: LocalClock,
): ScheduleFinding {
  const { dates, at, until, days, ...entry } = entries[place] ?? {};
  const id = entryIdOf(entry, place);
  const today = dateOf(clock.dayAt(nowMs));
  const isOver = (at != null && (until ?? at) <= nowMs) || (dates?.until ?? today) < today;
  if (isOver) {
    const end = at == null ? dates?.until : momentText(until ?? at, clock);
    return { level: 'warning', entry: id, problem: 'over', detail: `It was over on ${end}.` };
  }
  const why =
    days && dates
      ? `None of its days (${days.join(', ')}) lies between its dates.`
      : 'None of its days is within the next ten years.';
  return { level: 'error', entry: id, problem: 'never', detail: why };
}

const capital = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** Returns the times at which the playlist of the screen plays. */
function baseSpans(entries: readonly NamedTimes[], spans: readonly Span[]): Interval[] {
  const found: Interval[] = [];
  for (const { fromMs, untilMs, place } of spans) {
    if (place !== null && !entries[place]?.base) continue;
    const last = found.at(-1);
    if (last?.untilMs === fromMs) last.untilMs = untilMs;
    else found.push({ fromMs, untilMs });
  }
  return found;
}

/** Says when no entry holds in the week from today on, days with equal times together. */
function baseFindings(entries: readonly NamedTimes[], timezone: string, firstDay: number) {
  const aboutMs = firstDay * dayMs;
  const clock = localClock(timezone, aboutMs, aboutMs + 7 * dayMs);
  const days = Array.from({ length: 7 }, (_, index) => firstDay + index).map((day) => {
    const range = {
      fromMs: clock.instantOf(day, 0, 'earlier'),
      untilMs: clock.instantOf(day + 1, 0, 'earlier'),
    };
    const gaps = baseSpans(entries, scheduleSpans(entries, timezone, range));
    const text = gaps.map(({ fromMs, untilMs }) => {
      const end = untilMs === range.untilMs ? '24:00' : timeText(clock.minuteAt(untilMs));
      return `${timeText(clock.minuteAt(fromMs))}–${end}`;
    });
    return { day, text: text.join(', ') === '00:00–24:00' ? 'all day' : text.join(', ') };
  });
  const texts = [...new Set(days.map(({ text }) => text))].filter((text) => text !== '');
  return texts.map((text): ScheduleFinding => {
    const names = days.filter((one) => one.text === text).map(({ day }) => weekdayOf(day));
    const when = names.length === 7 ? 'Every day' : capital(names.join(', '));
    return {
      level: 'info',
      entry: null,
      problem: 'base',
      detail: `${when}: ${text}: the playlist of the screen plays.`,
    };
  });
}

const worstFirst = ['error', 'warning', 'info'] as const;

/**
 * Checks a schedule against the calendar: entries that never play, that are over, that others hide,
 * and the times of the coming week at which no entry holds. The worst come first.
 */
export function checkSchedule(options: CheckOptions): ScheduleFinding[] {
  const { entries, timezone, venue, nowMs, media = [] } = options;
  const findings: ScheduleFinding[] = [...media];
  const local = entries.findIndex(needsTimezone);
  if (timezone === null && venue !== undefined && local >= 0)
    findings.push({
      level: 'error',
      entry: entryIdOf(entries[local] ?? {}, local),
      problem: 'timezone',
      detail: `The venue "${venue}" has no time zone, which local times need.`,
    });
  const zone = timezone ?? 'UTC';
  const clockNow = localClock(zone, nowMs, nowMs);
  const firstDay = clockNow.dayAt(nowMs);
  const range = { fromMs: nowMs, untilMs: horizonOf(entries, nowMs) };
  const clock = localClock(zone, range.fromMs, range.untilMs);
  const spans = scheduleSpans(entries, zone, range);
  for (const [place, entry] of entries.entries()) {
    const own = intervalsOf(entry, clock, range).filter(
      (one) => overlapMs(one, range) > 0 && one.fromMs < one.untilMs,
    );
    const found =
      own.length === 0
        ? neverFinding(options, place, clock)
        : hiddenFinding(place, own, spans, options, clock);
    if (found) findings.push(found);
  }
  const all = [...findings, ...baseFindings(entries, zone, firstDay)];
  return all.sort((a, b) => worstFirst.indexOf(a.level) - worstFirst.indexOf(b.level));
}
