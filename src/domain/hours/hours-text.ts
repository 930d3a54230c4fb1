import {
  parseDate,
  parseDays,
  parseEnd,
  parseStart,
  type Weekday,
  weekdays,
} from './local-times.ts';

/** Opening hours in the local time of a venue (docs/protocol.md §5.3). Empty: always open. */
export type Hours = { days: Weekday[]; from: string; to: string }[];

/**
 * Hours of dates, instead of those of their weekdays (docs/protocol.md §5.3). Without times, the
 * dates are closed.
 */
export type HoursExceptions = {
  dates: { from: string; until: string };
  from?: string | undefined;
  to?: string | undefined;
}[];

/** The hours of a venue or screen, and their exceptions. */
export interface OpeningHours {
  hours: Hours | null;
  hoursExceptions: HoursExceptions | null;
}

const timed = /^(?:(.+?):?\s+)?(\d\d?:\d\d)\s*(?:-|–|to)\s*(\d\d?:\d\d)$/;
const off = /^(.+?)\s+(?:off|closed)$/;
const dateRange = /^(\d{4}-\d\d-\d\d)(?:\s*(?:\.\.|–|-|\/|to)\s*(\d{4}-\d\d-\d\d))?$/;

/** Parses dates: `2026-12-24`, `2026-12-24..2027-01-06`, or several. */
function parseDates(text: string): { from: string; until: string }[] | undefined {
  const dates = text.split(/[+,]/).map((one) => {
    const [, from = '', until = from] = dateRange.exec(one.trim()) ?? [];
    return parseDate(from) && parseDate(until) && from <= until ? { from, until } : undefined;
  });
  return dates.every((one) => one !== undefined) ? dates : undefined;
}

const always = /^(?:always|24\/7)$/;

/** Splits a text at `;` and `,`. A comma joins days and dates only before a time or `off`. */
function partsOf(text: string): string[] {
  const pieces = text.replaceAll(/\ball day\b/g, '00:00-24:00').split(/([,;])/);
  const parts: string[] = [];
  let days = '';
  for (let at = 0; at < pieces.length; at += 2) {
    const piece = pieces[at]?.trim() ?? '';
    const isWhole = piece.includes(':') || off.test(piece) || always.test(piece);
    if (isWhole || pieces[at + 1] !== ',') {
      parts.push(`${days}${piece}`);
      days = '';
    } else days += `${piece},`;
  }
  return parts;
}

/**
 * Parses `mon-fri 08:00-18:00, sat+sun 10:00-02:00; 2026-12-25 off`, or `always`. Returns
 * `undefined` for any other text. Dates alone leave the hours as they are without: `null`.
 */
export function parseHours(text: string): OpeningHours | undefined {
  let hours: Hours | null = null;
  const exceptions: HoursExceptions = [];
  let isAlways = false;
  let selector = '';
  for (const part of partsOf(text.trim().toLowerCase())) {
    if (always.test(part)) {
      isAlways = true;
      continue;
    }
    const [, closedText] = off.exec(part) ?? [];
    const [, daysText = selector, fromText = '', toText = ''] = timed.exec(part) ?? [];
    selector = closedText ?? daysText;
    const from = parseStart(fromText);
    const to = parseEnd(toText);
    const times = from && to ? { from, to } : undefined;
    if (closedText === undefined && !times) return undefined;
    const dates = parseDates(selector);
    const days = parseDays(selector);
    if (dates) for (const one of dates) exceptions.push({ dates: one, ...times });
    else if (!days) return undefined;
    else if (times) hours = [...(hours ?? []), { days, ...times }];
    else hours = withoutDays(hours ?? [], days);
  }
  // Of hours that name no day, nobody can say whether they mean never or always.
  if (isAlways ? hours !== null : hours?.length === 0) return undefined;
  if (!isAlways && hours === null && exceptions.length === 0) return undefined;
  return {
    hours: isAlways ? [] : hours,
    hoursExceptions: exceptions.length > 0 ? exceptions : null,
  };
}

/** Returns the first part of a text because of which `parseHours` gives nothing. */
export function unreadHours(text: string): string {
  const parts = partsOf(text.trim().toLowerCase());
  const isRead = (count: number) => parseHours(parts.slice(0, count).join('; ')) !== undefined;
  const count = parts.findIndex((_, place) => !isRead(place + 1));
  return parts.length > 1 ? (parts[count] ?? text) : text;
}

function withoutDays(hours: Hours, closed: readonly Weekday[]): Hours {
  return hours
    .map((one) => ({ ...one, days: one.days.filter((day) => !closed.includes(day)) }))
    .filter(({ days }) => days.length > 0);
}

function daysText(days: readonly Weekday[]): string {
  const places = weekdays.flatMap((day, at) => (days.includes(day) ? [at] : []));
  const runs: number[][] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run?.at(-1) === place - 1) run.push(place);
    else runs.push([place]);
  }
  return runs
    .map((run) => {
      const names = run.map((place) => weekdays[place]);
      return names.length > 2 ? `${names[0]}-${names.at(-1)}` : names.join('+');
    })
    .join('+');
}

/** Returns hours and exceptions as the text that `parseHours` reads. `null`: there are none. */
export function hoursText(given: {
  hours: Hours | null;
  hoursExceptions?: HoursExceptions | null | undefined;
}): string | null {
  const weekly =
    given.hours?.length === 0
      ? ['always']
      : (given.hours ?? []).map(({ days, from, to }) => `${daysText(days)} ${from}-${to}`);
  const exceptions = (given.hoursExceptions ?? []).map(({ dates, from, to }) => {
    const text = dates.from === dates.until ? dates.from : `${dates.from}..${dates.until}`;
    return `${text} ${from === undefined ? 'off' : `${from}-${to}`}`;
  });
  const parts = [...weekly, ...exceptions];
  return parts.length === 0 ? null : parts.join(', ');
}
