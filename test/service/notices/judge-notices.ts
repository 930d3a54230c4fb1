import { minuteMs } from '../../../src/domain/clock.ts';
import type { Notice } from '../../../src/domain/notices/rows.ts';
import {
  isWithin,
  type Span,
  stepMs,
  type TownTroubles,
  type TownTv,
  tellMs,
  windowMs,
} from './watched-town.ts';

/** Joins spans that overlap or touch, and sorts them. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { startMs, endMs } of spans.toSorted((one, other) => one.startMs - other.startMs)) {
    const last = result.at(-1);
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else result.push({ startMs, endMs });
  }
  return result;
}

const overlaps = (spans: readonly Span[], { startMs, endMs }: Span) =>
  spans.some((one) => one.startMs < endMs && startMs < one.endMs);

export type ToldNotice = Pick<Notice, 'at' | 'type' | 'venueId' | 'screenId'>;

export interface Verdict {
  /** Sentences about what was told wrongly, late, twice or not at all. */
  wrong: string[];
  /** Number of outages of TVs that had to be told, and of notices. */
  outages: number;
  told: number;
}

/** Compares the notices of a town with what happened there. */
export function judgeNotices(
  town: TownTroubles,
  notices: readonly ToldNotice[],
  endMs: number,
): Verdict {
  const wrong: string[] = [];
  let outages = 0;
  const deaf = joined([...town.down, ...town.away]);
  const at = (timeMs: number) => new Date(timeMs).toISOString();
  const of = (id: string) => notices.filter((one) => (one.screenId ?? one.venueId) === id);
  const offOf = new Map<TownTv, Span[]>(town.tvs.map((tv) => [tv, joined(tv.off)]));
  for (const venue of town.venues) {
    const ofVenue = of(venue.id);
    const darkSpans = spansOf(ofVenue, 'venue', endMs, wrong);
    const recoveredAt = ofVenue
      .filter(({ type }) => type === 'venue.recovered')
      .map((one) => one.at);
    for (const { type, at: timeMs } of ofVenue) {
      const gone = venue.tvs.filter((tv) => isWithin(offOf.get(tv) ?? [], timeMs - 2 * minuteMs));
      if (type === 'venue.dark' && (gone.length < 3 || 2 * gone.length < venue.tvs.length))
        wrong.push(`${at(timeMs)} venue.dark with ${gone.length} of ${venue.tvs.length} TVs off`);
    }
    for (const tv of venue.tvs) {
      const own = of(tv.screenId);
      const told = spansOf(own, 'screen', endMs, wrong);
      const off = offOf.get(tv) ?? [];
      for (const { type, at: timeMs } of own) {
        if (type !== 'screen.dark') continue;
        const isOff = off.some(
          ({ startMs, endMs }) => startMs <= timeMs - windowMs && timeMs <= endMs + 2 * minuteMs,
        );
        const isOpen = venue.open === undefined || isWithin(venue.open, timeMs);
        if (!isOff || !isOpen) wrong.push(`${at(timeMs)} false screen.dark`);
      }
      for (const outage of off) {
        // A TV that has not called yet is not told.
        if (outage.startMs <= town.startMs) continue;
        // The time counts from the last call, the end of a deaf time, the opening, or a recovery.
        const starts = [outage.startMs, ...deaf.map((one) => one.endMs + stepMs), ...recoveredAt];
        for (const one of venue.open ?? []) starts.push(one.startMs + stepMs);
        for (const startMs of starts) {
          const needed = { startMs, endMs: startMs + tellMs + stepMs };
          if (startMs < outage.startMs || needed.endMs > outage.endMs || needed.endMs > endMs)
            continue;
          if (overlaps(deaf, needed)) continue;
          if (recoveredAt.some((time) => time > startMs && time <= needed.endMs)) continue;
          const isOpen =
            venue.open === undefined ||
            venue.open.some((one) => one.startMs <= startMs && needed.endMs <= one.endMs);
          if (!isOpen) continue;
          outages++;
          const isTold = isWithin(told, needed.endMs) || isWithin(darkSpans, needed.endMs);
          if (!isTold)
            wrong.push(`${at(needed.endMs)} not told of the outage since ${at(outage.startMs)}`);
        }
      }
    }
  }
  return { wrong, outages, told: notices.length };
}

/** Returns when something was told as dark. Each `dark` must be followed by one `recovered`. */
function spansOf(
  notices: readonly ToldNotice[],
  subject: 'screen' | 'venue',
  endMs: number,
  wrong: string[],
): Span[] {
  const spans: Span[] = [];
  let startMs: number | undefined;
  for (const { type, at } of notices) {
    const isDark = type === `${subject}.dark`;
    if (isDark === (startMs !== undefined))
      wrong.push(`${new Date(at).toISOString()} ${type} twice`);
    if (!isDark && startMs !== undefined) spans.push({ startMs, endMs: at });
    startMs = isDark ? at : undefined;
  }
  if (startMs !== undefined) {
    spans.push({ startMs, endMs });
    wrong.push(`${subject} never recovered since ${new Date(startMs).toISOString()}`);
  }
  return spans;
}
