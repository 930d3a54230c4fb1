import { isoMs } from '../clock.ts';

/** Days of the week, in ISO's order. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const fullNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** Returns the place of a day by its name or the start of it: `Monday`, `mon`, `Mo`. */
const placeOf = (name: string) =>
  name.length < 2 ? -1 : fullNames.findIndex((full) => full.startsWith(name));

/**
 * Parses days: `mon`, `Mo-Fr`, `sat+sun`, `mon, wed-fri` or `every day`. Returns them in the order
 * of the week, or `undefined` for other text.
 */
export function parseDays(text: string): Weekday[] | undefined {
  const given = text.trim().toLowerCase();
  if (given === 'every day' || given === 'daily') return [...weekdays];
  const found = new Set<Weekday>();
  for (const range of given.split(/[+,]/)) {
    const [first = '', last = first, ...more] = range.split(/[-–]/).map((name) => name.trim());
    const start = placeOf(first);
    const end = placeOf(last);
    if (start < 0 || end < 0 || more.length > 0) return undefined;
    for (let at = start; ; at = (at + 1) % weekdays.length) {
      found.add(weekdays[at] as Weekday);
      if (at === end) break;
    }
  }
  return weekdays.filter((day) => found.has(day));
}

/** Parses the time at which something begins: `8:00` or `08:00`. Returns `08:00`. */
export function parseStart(text: string): string | undefined {
  const time = text.padStart(5, '0');
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? time : undefined;
}

/** Parses the time at which something ends. `24:00` is the midnight at the end of the day. */
export function parseEnd(text: string): string | undefined {
  return text === '24:00' ? '00:00' : parseStart(text);
}

/** Parses a date of the calendar, such as `2026-12-24`. */
export function parseDate(text: string): string | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(isoMs(text)) ? text : undefined;
}
