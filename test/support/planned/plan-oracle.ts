// What was due on screens, minute by minute, read from the protocol page and not from the code.

const minuteMs = 60_000;
const dayMinutes = 1440;
const weekdays = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed'];

/** Times of day are `HH:MM`. */
export interface Times {
  days?: string[];
  from?: string;
  to?: string;
  dates?: { from?: string; until?: string };
  /** Epoch seconds. */
  at?: number;
  until?: number;
}

export interface Item {
  creativeId: string;
  campaign?: string;
  duration: number;
}

export type Entry = Times & { items?: Item[]; base?: true };

export interface Place {
  hours: Times[] | null;
  hoursExceptions: Times[] | null;
  schedule: Entry[] | null;
}

export interface ModelScreen extends Place {
  id: string;
  venueId: string;
  hasTv: boolean;
  /** Times in epoch milliseconds. */
  takeover: { items: Item[]; untilMs: number } | null;
  base: { items: Item[]; untilMs: number | null } | null;
}

export interface World {
  venues: Record<string, Place & { timezone: string | null }>;
  screens: Record<string, ModelScreen>;
}

/** The local minutes of a zone, counted from 1970, for each minute of a range. */
export class LocalMinutes {
  readonly #firstMinute: number;
  readonly #local: Int32Array;

  constructor(timezone: string, fromMs: number, untilMs: number) {
    this.#firstMinute = Math.floor(fromMs / minuteMs);
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    const localAt = (timeMs: number) => {
      const [day, month, year, hour, minute] = (format.format(timeMs).match(/\d+/g) ?? []).map(
        Number,
      );
      return Date.UTC(year as number, (month as number) - 1, day, hour, minute) / minuteMs;
    };
    const count = Math.ceil((untilMs - fromMs) / minuteMs);
    this.#local = new Int32Array(count);
    // Clocks change at quarters of an hour.
    for (let at = 0, start = 0; at < count; at++) {
      const utc = this.#firstMinute + at;
      if (at === 0 || utc % 15 === 0) start = localAt(utc * minuteMs) - utc;
      this.#local[at] = utc + start;
    }
  }

  at(minute: number): number {
    return this.#local[minute - this.#firstMinute] as number;
  }

  /** Returns the first or last minute with a local time, or the minute that skips it. */
  find(local: number, which: 'first' | 'last'): number {
    const found = which === 'first' ? this.#local.indexOf(local) : this.#local.lastIndexOf(local);
    return this.#firstMinute + (found >= 0 ? found : this.#local.findIndex((one) => one > local));
  }
}

export class PlanOracle {
  readonly #fromMs: number;
  readonly #untilMs: number;
  readonly #zones = new Map<string, LocalMinutes>();
  readonly #times = new Map<string, [number, number][]>();

  constructor(fromMs: number, untilMs: number) {
    this.#fromMs = fromMs - 4 * dayMinutes * minuteMs;
    this.#untilMs = untilMs + 4 * dayMinutes * minuteMs;
  }

  zone(timezone: string | null): LocalMinutes {
    const name = timezone ?? 'UTC';
    const zone = this.#zones.get(name) ?? new LocalMinutes(name, this.#fromMs, this.#untilMs);
    this.#zones.set(name, zone);
    return zone;
  }

  /** Returns the minutes in which an entry holds, whatever others hold. */
  #holds(times: Times, timezone: string | null, only?: (date: string) => boolean) {
    const { at, until, from = '00:00', to = '00:00', days, dates } = times;
    if (at !== undefined) return [[at / 60, (until ?? at) / 60]] as [number, number][];
    const zone = this.zone(timezone);
    const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
    const found: [number, number][] = [];
    const first = Math.floor(this.#fromMs / minuteMs / dayMinutes) + 2;
    const last = Math.ceil(this.#untilMs / minuteMs / dayMinutes) - 2;
    for (let day = first; day < last; day++) {
      const date = new Date(day * dayMinutes * minuteMs).toISOString().slice(0, 10);
      if (days && !days.includes(weekdays[day % 7] as string)) continue;
      if (dates?.from !== undefined && date < dates.from) continue;
      if (dates?.until !== undefined && date > dates.until) continue;
      if (only && !only(date)) continue;
      const start = minutes(from);
      const end = minutes(to) + (minutes(to) > start ? 0 : dayMinutes);
      found.push([
        zone.find(day * dayMinutes + start, 'first'),
        zone.find(day * dayMinutes + end, 'last'),
      ]);
    }
    return found;
  }

  #isWithin(key: unknown, make: () => [number, number][], minute: number): boolean {
    const text = JSON.stringify(key);
    const found = this.#times.get(text) ?? make();
    this.#times.set(text, found);
    return found.some(([from, until]) => from <= minute && minute < until);
  }

  isOpen(screen: Place, venue: World['venues'][string], minute: number): boolean {
    const hours = screen.hours ?? venue.hours ?? [];
    const own = screen.hoursExceptions?.length ? screen.hoursExceptions : null;
    const exceptions = own ?? (screen.hours?.length === 0 ? null : venue.hoursExceptions) ?? [];
    const { timezone } = venue;
    const isSpecial = (date: string) =>
      exceptions.some(({ dates }) => (dates?.from ?? '') <= date && date <= (dates?.until ?? ''));
    const usual = hours.length > 0 ? hours : [{}];
    return this.#isWithin(
      [hours, exceptions, timezone],
      () => [
        ...usual.flatMap((one) => this.#holds(one, timezone, (date) => !isSpecial(date))),
        ...exceptions
          .filter(({ from }) => from !== undefined)
          .flatMap((one) => this.#holds(one, timezone)),
      ],
      minute,
    );
  }

  /** Returns the items that are due, or `undefined`. */
  due(screen: ModelScreen, venue: World['venues'][string], minute: number): Item[] | undefined {
    const nowMs = minute * minuteMs;
    if (!screen.hasTv || !this.isOpen(screen, venue, minute)) return undefined;
    if (screen.takeover && nowMs < screen.takeover.untilMs) return screen.takeover.items;
    const { timezone } = venue;
    const entry = (screen.schedule ?? venue.schedule ?? []).find(({ items: _items, ...times }) =>
      this.#isWithin([times, timezone], () => this.#holds(times, timezone), minute),
    );
    if (entry?.items) return entry.items;
    if (!screen.base) return undefined;
    return screen.base.untilMs === null || nowMs < screen.base.untilMs
      ? screen.base.items
      : undefined;
  }
}

export interface Query {
  groupBy: 'screen' | 'venue' | 'campaign' | 'creative' | 'day';
  days: 'utc' | 'venue';
  from?: string;
  to?: string;
}

/** A world from a minute on. */
export type Story = { minute: number; world: World }[];

/** Returns the planned seconds of each key, campaigns by their names. */
export function plannedBy(
  oracle: PlanOracle,
  story: Story,
  endMinute: number,
  { groupBy, days, from, to }: Query,
): Record<string, number> {
  const sums: Record<string, number> = {};
  const add = (key: string | undefined, seconds: number) => {
    if (key !== undefined) sums[key] = (sums[key] ?? 0) + seconds;
  };
  for (const [place, { minute: first, world }] of story.entries()) {
    const end = story[place + 1]?.minute ?? endMinute;
    for (let minute = first; minute < end; minute++) {
      for (const screen of Object.values(world.screens)) {
        const venue = world.venues[screen.venueId] as World['venues'][string];
        const items = oracle.due(screen, venue, minute);
        if (!items) continue;
        const local = days === 'venue' ? oracle.zone(venue.timezone).at(minute) : minute;
        const day = new Date(local * minuteMs).toISOString().slice(0, 10);
        if ((from !== undefined && day < from) || (to !== undefined && day >= to)) continue;
        if (groupBy === 'day') add(day, 60);
        else if (groupBy === 'screen') add(screen.id, 60);
        else if (groupBy === 'venue') add(screen.venueId, 60);
        else {
          const whole = items.reduce((sum, { duration }) => sum + duration, 0);
          for (const { duration, campaign, creativeId } of items)
            add(groupBy === 'campaign' ? campaign : creativeId, (60 * duration) / whole);
        }
      }
    }
  }
  return sums;
}
