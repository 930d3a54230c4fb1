import { hash } from 'node:crypto';
import type { Span } from '../../calendar/schedule-spans.ts';
import { BoundedMap } from '../../domain/bounded-map.ts';
import { dayMs } from '../../domain/clock.ts';
import { takeoverId } from '../../domain/layers/layer-names.ts';
import { smallest } from '../../domain/numbers/extremes.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import { type EntryTimes, entryIdOf } from '../../domain/schedule/entry-times.ts';
import type { StoredSchedule, StoredTakeover } from '../../domain/schedule/rows.ts';
import type { Reader } from '../../store/store.ts';
import { activeTakeover, type ScreenLayers, scheduleOf } from './layers.ts';

/** What can play on a screen: the base (`entryId` is `null`), an entry, or the takeover. */
export interface Playable {
  entryId: string | null;
  contentId: string;
  hasMedia: boolean;
  /** Size of the items of an entry or takeover. */
  bytes: number;
}

/** Times are in Unix epoch milliseconds. `playable` is `undefined` while nothing plays. */
interface PlannedSpan {
  fromMs: number;
  untilMs: number;
  playable: Playable | undefined;
}

/** The active playlist below all layers. */
export type Base = Pick<
  Playlist,
  'playlistId' | 'version' | 'publishedAt' | 'validUntil' | 'hasMedia' | 'contentId' | 'origin'
>;

/** The rows from which a plan follows. */
export interface PlanBasis {
  layers: ScreenLayers;
  base: Base | undefined;
}

interface PlanInput extends PlanBasis {
  timezone: string | null;
  nowMs: number;
}

/** What a screen plays from now on, until at least two days from now. */
export interface Plan {
  /** Without gaps. The first span is the present one. */
  spans: [PlannedSpan, ...PlannedSpan[]];
  /** The present span, what lies beneath it, or the plan as a whole may change at this time. */
  endsAtMs: number;
  /** The part of the calendar that was looked at. */
  range: { fromMs: number; untilMs: number };
  /** Whether there is a schedule or a takeover. */
  isLayered: boolean;
  /** What lies beneath the present span at the moment, the highest layer first. */
  beneath: Playable[];
}

/** A plan reaches at least so far beyond the start of its window. */
const horizonMs = 3 * dayMs;
/** Beyond it, the calendar is searched for the next entry, so that a night is no end. */
const searchMs = 2 * dayMs;

/**
 * Returns the start of the screen's window, which moves once a day. The time of day follows from
 * the id, so that the plans of a fleet do not change at one moment.
 */
function windowStart(screenId: string, nowMs: number): number {
  const offset = hash('sha256', screenId, 'buffer').readUInt32BE() % (dayMs / 1000);
  const offsetMs = offset * 1000;
  return Math.floor((nowMs - offsetMs) / dayMs) * dayMs + offsetMs;
}

const baseOf = (base: Pick<Base, 'contentId' | 'hasMedia'> | undefined): Playable | undefined =>
  base && { entryId: null, contentId: base.contentId, hasMedia: base.hasMedia, bytes: 0 };

const takeoverOf = ({ contentId, mediaIds, bytes }: StoredTakeover): Playable => ({
  entryId: takeoverId,
  contentId,
  hasMedia: mediaIds.length > 0,
  bytes,
});

/** Returns what plays below a takeover, without gaps. */
export function spansBelow(
  schedule: StoredSchedule | undefined,
  base: Pick<Base, 'contentId' | 'hasMedia' | 'validUntil' | 'origin'> | undefined,
  range: Pick<Span, 'fromMs' | 'untilMs'>,
  spansOf: (schedule: StoredSchedule) => Span[],
): PlannedSpan[] {
  // An on-demand source overrides the schedule, as it overrides a published playlist.
  const spans =
    schedule && base?.origin !== 'on-demand' ? spansOf(schedule) : [{ ...range, place: null }];
  return spans.flatMap(({ fromMs, untilMs, place }) => {
    const entry = place === null ? undefined : schedule?.entries[place];
    if (entry && place !== null && entry.contentId !== null) {
      const { contentId, bytes, mediaIds } = entry;
      const entryId = entryIdOf(entry, place);
      return {
        fromMs,
        untilMs,
        playable: { entryId, contentId, bytes, hasMedia: mediaIds.length > 0 },
      };
    }
    const endMs = Math.min(untilMs, Math.max(fromMs, base?.validUntil ?? untilMs));
    return [
      { fromMs, untilMs: endMs, playable: baseOf(base) },
      { fromMs: endMs, untilMs, playable: undefined },
    ].filter((span) => span.fromMs < span.untilMs);
  });
}

type ScheduleSpans = (
  entries: readonly EntryTimes[],
  timezone: string,
  range: { fromMs: number; untilMs: number },
) => Span[];

/** Number of different schedules and days whose spans are kept. Each takes some kilobytes. */
const spansKnown = 1024;

/** Makes plans. Screens with the same entries share the work of the calendar. */
function makePlanner(scheduleSpans: ScheduleSpans) {
  const known = new BoundedMap<string, Span[]>(spansKnown);

  function spansOf(
    { entries }: StoredSchedule,
    timezone: string | null,
    range: { fromMs: number; untilMs: number },
  ): Span[] {
    const times = entries.map(({ days, from, to, dates, at, until }) => [
      days,
      from,
      to,
      dates,
      at,
      until,
    ]);
    const key = JSON.stringify([timezone, range.fromMs, times]);
    const found = known.get(key);
    if (found) return found;
    const spans = scheduleSpans(entries, timezone ?? 'UTC', range);
    known.set(key, spans);
    return spans;
  }

  function below(
    { layers, base, timezone }: PlanInput,
    range: { fromMs: number; untilMs: number },
  ): PlannedSpan[] {
    const schedule = scheduleOf(layers);
    return spansBelow(schedule, base, range, (given) => spansOf(given, timezone, range));
  }

  /**
   * Returns what lies beneath the present span, and until when: under a takeover, what plays
   * without the takeover; under an entry, the base.
   */
  function beneathOf(
    { base }: PlanInput,
    present: PlannedSpan,
    withoutTakeover: PlannedSpan | undefined,
  ): { beneath: Playable[]; endsAtMs: number } {
    const { entryId = null } = present.playable ?? {};
    const isTakeover = entryId === takeoverId;
    const next = isTakeover ? withoutTakeover?.playable : undefined;
    const hasEntry = isTakeover ? next !== undefined && next.entryId !== null : entryId !== null;
    const layers = [next, hasEntry ? baseOf(base) : undefined];
    const ends = [
      isTakeover ? withoutTakeover?.untilMs : undefined,
      hasEntry ? base?.validUntil : undefined,
    ];
    return {
      beneath: layers.flatMap((playable) => playable ?? []),
      endsAtMs: smallest(ends.flatMap((endMs) => endMs ?? [])),
    };
  }

  /** Returns the plan of a screen. It depends only on the input, and moves once a day. */
  return (screenId: string, input: PlanInput): Plan => {
    const { layers, nowMs } = input;
    const startMs = windowStart(screenId, nowMs);
    const firstDayMs = Math.floor(startMs / dayMs) * dayMs;
    // All screens whose windows begin on the same day share the range.
    const range = {
      fromMs: firstDayMs - dayMs,
      untilMs: firstDayMs + dayMs + horizonMs + searchMs,
    };
    const takeover = activeTakeover(layers, nowMs);
    const endMs = takeover?.until ?? nowMs;
    const spansBelow = below(input, range);
    const rest = spansBelow
      .filter(({ untilMs }) => untilMs > endMs)
      .map((span) => (takeover ? { ...span, fromMs: Math.max(span.fromMs, endMs) } : span));
    const [first, ...others] = takeover
      ? [{ fromMs: takeover.since, untilMs: endMs, playable: takeoverOf(takeover) }, ...rest]
      : rest;
    const present = first ?? { ...range, playable: undefined };
    const withoutTakeover = spansBelow.find(({ untilMs }) => untilMs > nowMs);
    const lower = beneathOf(input, present, withoutTakeover);
    return {
      spans: [present, ...others.filter(({ fromMs }) => fromMs <= startMs + horizonMs)],
      range,
      endsAtMs: Math.min(present.untilMs, lower.endsAtMs, startMs + dayMs),
      isLayered: takeover !== undefined || scheduleOf(layers) !== undefined,
      beneath: lower.beneath,
    };
  };
}

type Planner = ReturnType<typeof makePlanner>;

let planner: Promise<Planner> | undefined;

/** Loads the calendar, which takes 5 MB, with the first schedule. */
function loadPlanner(): Promise<Planner> {
  planner ??= import('../../calendar/schedule-spans.ts').then(({ scheduleSpans }) =>
    makePlanner(scheduleSpans),
  );
  return planner;
}

/** Returns the plan of a screen with layers. Not for changes: it awaits more than `reader`. */
export async function planOf(
  reader: Pick<Reader, 'get'>,
  { id, venueId }: Pick<Screen, 'id' | 'venueId'>,
  { layers, base, nowMs }: PlanBasis & { nowMs: number },
): Promise<Plan> {
  const plan = await loadPlanner();
  const venue = scheduleOf(layers) ? await reader.get('venues', venueId) : undefined;
  return plan(id, { layers, base, timezone: venue?.timezone ?? null, nowMs });
}
