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
  /** Of the screen and of its venue, each by time. */
  own: readonly PastInputs[];
  ofVenue: readonly PastInputs[];
}

function inputsAt({ present, own, ofVenue }: InputHistory, timeMs: number): Inputs {
  const past = <M extends 'screen' | 'venue' | 'layers' | 'playlist'>(
    rows: readonly PastInputs[],
    member: M,
  ) => rows.find((row) => timeMs < row.until && Object.hasOwn(row, member));
  const [screen, playlist, layers] = [
    past(own, 'screen'),
    past(own, 'playlist'),
    past(own, 'layers'),
  ];
  return {
    screen: screen ? screen.screen : present.screen,
    playlist: playlist ? playlist.playlist : present.playlist,
    own: layers ? layers.layers : present.own,
    venue: past(ofVenue, 'venue')?.venue ?? present.venue,
    ofVenue: past(ofVenue, 'layers')?.layers ?? present.ofVenue,
  };
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

/** Number of different hours, schedules and ranges whose times are kept. */
const timesKnown = 1000;

/**
 * Makes plans of the past. Screens with the same hours or schedule share the work of the calendar.
 */
export function makePastPlanner(days: 'utc' | 'venue') {
  const known = new BoundedMap<string, unknown>(timesKnown);
  function once<T>(key: readonly unknown[], make: () => T): T {
    const text = JSON.stringify(key);
    const found = known.get(text) as T | undefined;
    if (found !== undefined) return found;
    const made = make();
    known.set(text, made);
    return made;
  }

  /** Returns the day of a time, counted from 1 January 1970. */
  const dayAt = (timeMs: number, timezone: string | null | undefined): number =>
    once(['day', timezone, timeMs], () =>
      localClock(days === 'venue' ? (timezone ?? 'UTC') : 'UTC', timeMs, timeMs).dayAt(timeMs),
    );

  /** Returns what was due while no input changed. */
  function partsIn(inputs: Inputs, range: Interval): PlannedPart[] {
    const { screen, venue } = inputs;
    if (screen?.deviceId == null || screen.simulated) return [];
    const timezone = venue?.timezone ?? 'UTC';
    // Whole days, so that screens whose inputs changed at other times share the work.
    const fromMs = Math.floor(range.fromMs / dayMs) * dayMs;
    const whole = { fromMs, untilMs: Math.ceil(range.untilMs / dayMs) * dayMs };
    const given = hoursOf(screen, venue);
    const open = once(['open', timezone, whole, given], () => {
      const clock = localClock(days === 'venue' ? timezone : 'UTC', whole.fromMs, whole.untilMs);
      return [...common(daysOf(clock, whole), openIntervals(given, timezone, whole))];
    });
    const due = dueIn(inputs, range, (entries) => {
      const spans = once(['schedule', timezone, whole, entries], () =>
        scheduleSpans(entries, timezone, whole),
      );
      return [...common(spans, [range])];
    });
    const playing = due.filter(({ contentId }) => contentId !== undefined);
    return Array.from(common(playing, open), ({ day, contentId, fromMs, untilMs }) => ({
      day,
      fromMs,
      untilMs,
      contentId: contentId || null,
    }));
  }

  /**
   * Returns what was due on a screen between two times, in order: while its venue was open, a TV
   * was bound that was not simulated, and something was to play (docs/protocol.md §5.6).
   */
  function parts(history: InputHistory, range: Interval): PlannedPart[] {
    const isWithin = (timeMs: number) => range.fromMs < timeMs && timeMs < range.untilMs;
    const changes = [...history.own, ...history.ofVenue].map(({ until }) => until).filter(isWithin);
    const limits = [...new Set([range.fromMs, ...changes, range.untilMs])].sort((a, b) => a - b);
    return limits.slice(1).flatMap((untilMs, place) => {
      const fromMs = limits[place] as number;
      return partsIn(inputsAt(history, fromMs), { fromMs, untilMs });
    });
  }

  return { dayAt, parts };
}
