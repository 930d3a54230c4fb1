import { type LocalClock, localClock } from '../../calendar/local-clock.ts';
import { openIntervals } from '../../calendar/opening-hours.ts';
import { type Interval, type Span, scheduleSpans } from '../../calendar/schedule-spans.ts';
import { BoundedMap } from '../../domain/bounded-map.ts';
import { dayMs } from '../../domain/clock.ts';
import type {
  LayersInputs,
  PastInputs,
  PlaylistInputs,
  ScreenInputs,
  VenueInputs,
} from '../../domain/planned/rows.ts';
import type { StoredSchedule } from '../../domain/schedule/rows.ts';
import { hoursOf } from '../places/opening-hours.ts';
import { spansBelow } from '../schedules/plan.ts';

/** A time of one day in which a content was due on a screen. */
export interface PlannedPart extends Interval {
  /** Of the venue or of UTC, counted from 1 January 1970. */
  day: number;
  /** `null`: of the on-demand source. */
  contentId: string | null;
}

/** What decides what is due on a screen, at one time. `undefined`: the record does not exist. */
export interface Inputs {
  screen: ScreenInputs | undefined;
  venue: VenueInputs | undefined;
  own: LayersInputs | undefined;
  ofVenue: LayersInputs | undefined;
  playlist: PlaylistInputs | undefined;
}

/** The inputs of a screen over time. */
export interface InputHistory {
  /** Since the last change. */
  present: Inputs;
  /** Of the screen and of its venue. */
  own: readonly PastInputs[];
  ofVenue: readonly PastInputs[];
}

/** Returns what held until a change. */
function before(inputs: Inputs, row: PastInputs, isOwn: boolean): Inputs {
  const { screen, venue, layers } = row;
  const { playlist = inputs.playlist } = row;
  const level = isOwn ? 'own' : 'ofVenue';
  return {
    ...inputs,
    playlist,
    ...(screen && { screen }),
    ...(venue && { venue }),
    ...(layers && { [level]: layers }),
  };
}

/**
 * Yields the inputs between changes, from the last ones back to the first. What a clock that ran
 * ahead has ended lasted until the first change after its correction.
 */
function* inputsIn(
  { present, own, ofVenue }: InputHistory,
  { fromMs, untilMs }: Interval,
): Generator<Interval & { inputs: Inputs }> {
  const changes = [
    ...own.map((row) => ({ row, isOwn: true })),
    ...ofVenue.map((row) => ({ row, isOwn: false })),
  ].sort(({ row: one }, { row: other }) => other.stamp - one.stamp || one.until - other.until);
  let inputs = present;
  let endMs = untilMs;
  for (const { row, isOwn } of changes) {
    if (row.until <= fromMs) break;
    if (row.until < endMs) {
      yield { fromMs: row.until, untilMs: endMs, inputs };
      endMs = row.until;
    }
    inputs = before(inputs, row, isOwn);
  }
  yield { fromMs, untilMs: endMs, inputs };
}

/** Returns what was due in a time in which no input changed. */
function dueIn(
  { own, ofVenue, playlist }: Inputs,
  range: Interval,
  spansOf: (entries: StoredSchedule['entries']) => Span[],
) {
  const base = playlist
    ? {
        contentId: playlist.contentId ?? '',
        validUntil: playlist.validUntil,
        hasMedia: false,
        origin: playlist.contentId === null ? ('on-demand' as const) : ('published' as const),
      }
    : undefined;
  const schedule = own?.schedule ?? ofVenue?.schedule ?? undefined;
  const below = spansBelow(schedule, base, range, ({ entries }) => spansOf(entries)).map(
    ({ fromMs, untilMs, playable }) => ({ fromMs, untilMs, contentId: playable?.contentId }),
  );
  const { takeover } = own ?? {};
  const fromMs = Math.max(range.fromMs, takeover?.since ?? range.untilMs);
  const untilMs = Math.min(range.untilMs, takeover?.until ?? range.untilMs);
  if (!takeover || fromMs >= untilMs) return below;
  return [
    ...below.map((span) => ({ ...span, untilMs: Math.min(span.untilMs, fromMs) })),
    { fromMs, untilMs, contentId: takeover.contentId },
    ...below.map((span) => ({ ...span, fromMs: Math.max(span.fromMs, untilMs) })),
  ].filter((span) => span.fromMs < span.untilMs);
}

/** Returns the times that are in both, of times in order and without overlaps. */
function* common<T extends Interval, U extends Interval>(
  spans: readonly T[],
  others: readonly U[],
): Generator<T & U> {
  let place = 0;
  for (const span of spans) {
    while ((others[place]?.untilMs ?? span.untilMs) <= span.fromMs) place++;
    for (let at = place; (others[at]?.fromMs ?? span.untilMs) < span.untilMs; at++) {
      const other = others[at] as U;
      const fromMs = Math.max(span.fromMs, other.fromMs);
      yield { ...other, ...span, fromMs, untilMs: Math.min(span.untilMs, other.untilMs) };
    }
  }
}

/** Days of a clock, each with its start and its end. */
function daysOf(clock: LocalClock, { fromMs, untilMs }: Interval): (Interval & { day: number })[] {
  const days: (Interval & { day: number })[] = [];
  for (let startMs = fromMs; startMs < untilMs; ) {
    const day = clock.dayAt(startMs);
    const nextMs = clock.instantOf(day + 1, 0, 'earlier');
    const endMs = nextMs > startMs ? nextMs : startMs + dayMs;
    days.push({ day, fromMs: startMs, untilMs: Math.min(untilMs, endMs) });
    startMs = endMs;
  }
  return days;
}

/** Number of different hours and schedules whose times are kept. */
const calendarsKnown = 1000;
/** The calendar is asked for whole blocks, so that screens and changes share its work. */
const blockMs = 32 * dayMs;

type Calendar<T> = (range: Interval) => T[];

/** Returns a calendar that makes each block once. Its times may begin before a range. */
function inBlocks<T>(make: Calendar<T>): Calendar<T> {
  const blocks = new Map<number, T[]>();
  return ({ fromMs, untilMs }) => {
    const found: T[] = [];
    for (let start = Math.floor(fromMs / blockMs) * blockMs; start < untilMs; start += blockMs) {
      const block = blocks.get(start) ?? make({ fromMs: start, untilMs: start + blockMs });
      blocks.set(start, block);
      for (const one of block) found.push(one);
    }
    return found;
  };
}

/** Keeps the last value, for calls with the same objects. */
function lastOf<K extends unknown[], T>(make: (...key: K) => T): (...key: K) => T {
  let last: { key: K; value: T } | undefined;
  return (...key) => {
    if (!last?.key.every((part, place) => part === key[place])) last = { key, value: make(...key) };
    return last.value;
  };
}

/**
 * Makes plans of the past. Screens with the same hours or schedule share the work of the calendar.
 */
export function makePastPlanner(days: 'utc' | 'venue') {
  const known = new BoundedMap<string, Calendar<unknown>>(calendarsKnown);
  function calendarOf<T>(key: readonly unknown[], make: Calendar<T>): Calendar<T> {
    const text = JSON.stringify(key);
    const calendar = (known.get(text) as Calendar<T> | undefined) ?? inBlocks(make);
    known.set(text, calendar as Calendar<unknown>);
    return calendar;
  }

  const zoneOf = (timezone: string | null | undefined) =>
    days === 'venue' ? (timezone ?? 'UTC') : 'UTC';

  /** Returns the day of a time, counted from 1 January 1970. */
  const dayAt = lastOf((timeMs: number, timezone: string | null | undefined): number =>
    localClock(zoneOf(timezone), timeMs, timeMs).dayAt(timeMs),
  );

  const openOf = lastOf((screen: ScreenInputs, venue: VenueInputs | undefined) => {
    const timezone = venue?.timezone ?? 'UTC';
    const given = hoursOf(screen, venue);
    return calendarOf(['open', timezone, given], (block) => {
      const clock = localClock(zoneOf(timezone), block.fromMs, block.untilMs);
      return [...common(daysOf(clock, block), openIntervals(given, timezone, block))];
    });
  });

  const spansOf = lastOf((entries: StoredSchedule['entries'], timezone: string) =>
    calendarOf(['schedule', timezone, entries], (block) => scheduleSpans(entries, timezone, block)),
  );

  /** Returns what was due while no input changed. */
  function partsIn(inputs: Inputs, range: Interval): PlannedPart[] {
    const { screen, venue } = inputs;
    if (screen?.deviceId == null || screen.simulated) return [];
    const due = dueIn(inputs, range, (entries) => {
      const spans = spansOf(entries, venue?.timezone ?? 'UTC');
      return [...common(spans(range), [range])];
    });
    const playing = due.filter(({ contentId }) => contentId !== undefined);
    if (playing.length === 0) return [];
    const open = openOf(screen, venue)(range);
    return Array.from(common(playing, open), ({ day, contentId, fromMs, untilMs }) => ({
      day,
      fromMs,
      untilMs,
      contentId: contentId || null,
    }));
  }

  /**
   * Yields what was due on a screen between two times, change by change, the last one first: while
   * its venue was open, a TV was bound that was not simulated, and something was to play
   * (docs/protocol.md §5.6).
   */
  function* parts(history: InputHistory, range: Interval): Generator<PlannedPart[]> {
    for (const { inputs, fromMs, untilMs } of inputsIn(history, range)) {
      // The schedule holds again when what an on-demand source gave has ended.
      const { contentId, validUntil = null } = inputs.playlist ?? {};
      const isOver = contentId === null && validUntil !== null && validUntil < untilMs;
      const endMs = isOver ? Math.max(fromMs, validUntil) : untilMs;
      yield partsIn(inputs, { fromMs, untilMs: endMs });
      if (isOver) yield partsIn({ ...inputs, playlist: null }, { fromMs: endMs, untilMs });
    }
  }

  return { dayAt, parts };
}
