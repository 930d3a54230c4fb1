import { dateOf, localClock, weekdayOf } from '../../../calendar/local-clock.ts';
import { type Span, scheduleSpans } from '../../../calendar/schedule-spans.ts';
import { minuteMs } from '../../../domain/clock.ts';
import {
  type EntryTimes,
  entryIdOf,
  type NamedTimes,
} from '../../../domain/schedule/entry-times.ts';
import { escapeControl } from '../../terminal/escape.ts';
import { type VenueTimes, venueTimes } from '../../times/venue-times.ts';

interface WeekOptions {
  entries: readonly NamedTimes[];
  timezone: string;
  /** The first local day, counted from 1 January 1970. */
  firstDay: number;
  days: number;
  /** Width of the terminal, in characters. */
  width: number;
  /** Styles the letter of the entry at this place. `null`: no entry. */
  paint(text: string, place: number | null): string;
}

/** `Sun 29 Mar* `: the date of a row. */
const labelWidth = 12;
const dayMinutes = 24 * 60;

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const lettersIn = (name: string | null | undefined) =>
  (name ?? '').toUpperCase().replaceAll(/[^A-Z]/g, '');

/** Returns a letter for each entry: the first one of its name, or else a free one. */
function lettersOf(entries: readonly NamedTimes[]): string[] {
  const initials = entries.map(({ name }) => lettersIn(name).charAt(0));
  const used = new Set(initials);
  return entries.map(({ name }, place) => {
    const initial = initials[place] ?? '';
    if (initial !== '' && initials.indexOf(initial) === place) return initial;
    const letter = [...lettersIn(name), ...letters].find((one) => !used.has(one)) ?? '?';
    used.add(letter);
    return letter;
  });
}

/** Returns the number of characters of a day: a divisor of its minutes. */
function cellsFor(width: number): number {
  return [96, 72, 48, 24].find((cells) => labelWidth + cells <= width) ?? 24;
}

const clockText = (minute: number) =>
  [Math.floor(minute / 60), minute % 60].map((one) => String(one).padStart(2, '0')).join(':');

const capital = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function dayText(day: number): string {
  const [, month, date] = dateOf(day).split('-');
  return `${capital(weekdayOf(day))} ${Number(date).toString().padStart(2)} ${months[Number(month) - 1]}`;
}

/** Returns the entry that holds for most of a time. `undefined`: the clocks skip this time. */
function placeIn(spans: readonly Span[], fromMs: number, untilMs: number) {
  let longestMs = 0;
  let place: number | null | undefined;
  for (const span of spans) {
    const sharedMs = Math.min(span.untilMs, untilMs) - Math.max(span.fromMs, fromMs);
    if (sharedMs <= longestMs) continue;
    longestMs = sharedMs;
    place = span.place;
  }
  return place;
}

/** The hours above the days: every third, as far as there is room. */
function scale(cells: number): string {
  const step = cells < 48 ? 6 : 3;
  let line = ' '.repeat(labelWidth);
  for (let hour = 0; hour < 24; hour += step)
    line = `${line.padEnd(labelWidth + (hour * cells) / 24)}${hour}`;
  return line;
}

/** Says when an entry holds: `mon, tue 06:00–11:00`. */
function timesText(
  { days, from, to, dates, at, until }: EntryTimes,
  { plain: text }: VenueTimes,
): string {
  if (at != null) {
    return `${text(at)} to ${text(until ?? at)}`;
  }
  const oneDay = dates?.from === dates?.until ? dates?.from : undefined;
  const parts = [
    days?.join(', ') ?? (oneDay ? undefined : 'every day'),
    from != null && to != null && `${from}–${to}`,
    ...(oneDay
      ? [`on ${oneDay}`]
      : [dates?.from && `from ${dates.from}`, dates?.until && `until ${dates.until}`]),
  ];
  return parts.filter(Boolean).join(' ');
}

/**
 * Draws what plays on each day, one row a day and one letter an entry. Rows are local days. Returns
 * lines without newlines.
 */
export function drawWeek(options: WeekOptions): string[] {
  const { entries, timezone, firstDay, days, width, paint } = options;
  const about = firstDay * dayMinutes * minuteMs;
  const clock = localClock(timezone, about, about + days * dayMinutes * minuteMs);
  const range = {
    fromMs: clock.instantOf(firstDay, 0, 'earlier'),
    untilMs: clock.instantOf(firstDay + days, 0, 'later'),
  };
  const spans = scheduleSpans(entries, timezone, range);
  const times = venueTimes(timezone);
  const letterOf = lettersOf(entries);
  const cells = cellsFor(width);
  const cellMinutes = dayMinutes / cells;
  const notes: string[] = [];
  const rows = Array.from({ length: days }, (_, index) => firstDay + index).map((day) => {
    const startMs = clock.instantOf(day, 0, 'earlier');
    const changes = clock.changesIn(startMs, clock.instantOf(day + 1, 0, 'earlier'));
    for (const { timeMs, byMs } of changes) {
      const after = clock.minuteAt(timeMs);
      const before = after - byMs / minuteMs;
      const way = byMs > 0 ? 'forward' : 'back';
      notes.push(
        `* ${dayText(day).replace('  ', ' ')}: the clocks go ${way} from ${clockText(before)} to ${clockText(after)}.`,
      );
    }
    const label = `${dayText(day)}${changes.length > 0 ? '*' : ''}`.padEnd(labelWidth);
    const places = Array.from({ length: cells }, (__, cell) => {
      const fromMs = clock.instantOf(day, cell * cellMinutes, 'earlier');
      // Of a time that comes twice, the first one is drawn.
      const length = Math.min(
        cellMinutes * minuteMs,
        clock.instantOf(day, (cell + 1) * cellMinutes, 'later') - fromMs,
      );
      return placeIn(spans, fromMs, fromMs + length);
    });
    return `${label}${paintRow(places, letterOf, paint)}`;
  });
  const legend = entries.map((entry, place) => {
    const what = entry.base ? ', the playlist of the screen' : '';
    const text = escapeControl(`${entryIdOf(entry, place)}: ${timesText(entry, times)}${what}`);
    return `${paint(letterOf[place] ?? '?', place)}  ${text}`;
  });
  const base = `${paint('·', null)}  the playlist of the screen`;
  return [scale(cells), ...rows, '', ...legend, base, ...(notes.length > 0 ? ['', ...notes] : [])];
}

/** Styles equal neighbours together. */
function paintRow(
  places: readonly (number | null | undefined)[],
  letterOf: readonly string[],
  paint: WeekOptions['paint'],
): string {
  let row = '';
  for (let from = 0; from < places.length; ) {
    const place = places[from];
    let to = from;
    while (to < places.length && places[to] === place) to++;
    const letter = place === undefined ? ' ' : place === null ? '·' : (letterOf[place] ?? '?');
    const text = letter.repeat(to - from);
    row += place === undefined ? text : paint(text, place);
    from = to;
  }
  return row;
}
