/** Days of the week, in ISO's order. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** Opening hours in the local time of a venue (docs/protocol.md §5.3). Empty: always open. */
export type Hours = { days: Weekday[]; from: string; to: string }[];

const entry = /^([a-z+-]+) +(\d\d?:\d\d) ?[-–] ?(\d\d?:\d\d)$/;

/** Returns the days of `mon-wed+fri`, or `undefined` if the text is no such list. */
function parseDays(text: string): Weekday[] | undefined {
  const found = new Set<Weekday>();
  for (const range of text.split('+')) {
    const [first = '', last = first, ...more] = range.split('-');
    const start = weekdays.indexOf(first as Weekday);
    const end = weekdays.indexOf(last as Weekday);
    if (start < 0 || end < 0 || more.length > 0) return undefined;
    for (let at = start; ; at = (at + 1) % weekdays.length) {
      found.add(weekdays[at] as Weekday);
      if (at === end) break;
    }
  }
  return weekdays.filter((day) => found.has(day));
}

/** Pads `8:00` to `08:00`. `24:00` is midnight. */
function parseTime(text: string): string | undefined {
  const time = text.padStart(5, '0').replace(/^24:00$/, '00:00');
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? time : undefined;
}

/**
 * Parses `mon-fri 08:00-18:00, sat+sun 10:00-02:00`, or `always`. Returns `undefined` for any other
 * text.
 */
export function parseHours(text: string): Hours | undefined {
  const given = text.trim().toLowerCase();
  if (given === 'always') return [];
  const entries = given.split(/ *[,;] */).map((one) => {
    const [, dayText = '', fromText = '', toText = ''] = entry.exec(one) ?? [];
    const days = parseDays(dayText);
    const from = parseTime(fromText);
    const to = parseTime(toText);
    return days && from && to ? { days, from, to } : undefined;
  });
  return entries.every((one) => one !== undefined) ? entries : undefined;
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

/** Returns hours as the text that `parseHours` reads. */
export function hoursText(hours: Hours): string {
  if (hours.length === 0) return 'always';
  return hours.map(({ days, from, to }) => `${daysText(days)} ${from}-${to}`).join(', ');
}
