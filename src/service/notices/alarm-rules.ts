import { minuteMs } from '../../domain/clock.ts';
import type { Condition } from '../../domain/conditions/condition.ts';
import type { Alarm } from '../../domain/notices/rows.ts';

/** Time for which a bad condition, or a recovery, must hold until it is told. */
const holdMs = 2 * minuteMs;
/** Smallest number of TVs of a venue that go dark as a venue. */
const minVenueTvs = 3;

/** What the watcher sees of a paired screen. */
export interface SeenScreen {
  screenId: string;
  venueId: string;
  deviceId: string;
  condition: Condition;
  isBad: boolean;
  /** Whether its TV said last that it shows nothing: its app was stopped, or its page hidden. */
  hasSaidSo: boolean;
  /** Whether the device has called since its registration. */
  hasCalled: boolean;
  lastSeenAt: number;
  /** Silence after which a TV is dark, and after which a neighbour of a dark TV counts as gone. */
  windowMs: number;
  goneMs: number;
}

/** A notice to give, with the change of the alarm that goes with it. */
export type AlarmDecision<S extends SeenScreen = SeenScreen> =
  | { type: 'screen.dark' | 'screen.failing' | 'screen.recovered'; seen: S }
  | { type: 'venue.dark' | 'venue.recovered'; venueId: string; gone: number; tvs: number }
  /** The alarm of a screen or venue that is over without a recovery: its TV or itself is gone. */
  | { type: 'none'; alarmId: string };

interface VenueTally<S> {
  tvs: number;
  gone: number;
  /** Dark screens to tell. */
  dark: S[];
}

/** How a screen is, and since when it is so. If the clock is set back, it is so from now on. */
interface Phase {
  is: 'dark' | 'failing' | 'asleep' | 'good';
  sinceMs: number;
  /** Of a bad screen: when its hours began. 0: it was not asleep before. */
  openSinceMs: number;
}

function phaseOf({ condition, isBad }: SeenScreen): Phase['is'] {
  if (condition === 'asleep') return 'asleep';
  if (!isBad) return 'good';
  return condition === 'dark' ? 'dark' : 'failing';
}

function phaseAfter(before: Phase | undefined, seen: SeenScreen, nowMs: number): Phase {
  const is = phaseOf(seen);
  if (before?.is === is && before.sinceMs <= nowMs) return before;
  const openSinceMs = before?.is === 'asleep' ? nowMs : Math.min(before?.openSinceMs ?? 0, nowMs);
  return { is, sinceMs: nowMs, openSinceMs: seen.isBad ? openSinceMs : 0 };
}

/**
 * Decides which conditions of screens are told, and when (docs/protocol.md §5.16). The alarms that
 * were told are stored. How long a condition holds is in memory: a restart begins anew.
 */
export class AlarmRules<S extends SeenScreen = SeenScreen> {
  /** The screens that are bad, asleep, or good again after they were told. */
  #phases = new Map<string, Phase>();
  /** When a venue was no longer dark, or was told to have recovered. */
  readonly #venueGoodSince = new Map<string, number>();
  readonly #venueRecoveredAt = new Map<string, number>();

  /** @param hearingSince the service could hear TVs since then, without a break */
  async decide(
    screens: AsyncIterable<S>,
    alarms: ReadonlyMap<string, Alarm>,
    { nowMs, hearingSince }: { nowMs: number; hearingSince: number },
  ): Promise<AlarmDecision<S>[]> {
    const decisions: AlarmDecision<S>[] = [];
    const venues = new Map<string, VenueTally<S>>();
    const phases = new Map<string, Phase>();
    const seenIds = new Set<string>();
    for await (const seen of screens) {
      const { screenId, venueId } = seen;
      const alarm = alarms.get(screenId);
      if (alarm?.deviceId === seen.deviceId) seenIds.add(screenId);
      const venue = venues.get(venueId) ?? { tvs: 0, gone: 0, dark: [] };
      venues.set(venueId, venue);
      if (!seen.hasCalled) continue;
      const phase = phaseAfter(this.#phases.get(screenId), seen, nowMs);
      if (phase.is !== 'good' || alarm) phases.set(screenId, phase);
      // Outside its hours, a TV is neither told nor counted.
      if (phase.is === 'asleep') continue;
      venue.tvs++;
      if (nowMs - seen.lastSeenAt > seen.goneMs) venue.gone++;
      if (phase.is === 'good') {
        if (seenIds.has(screenId) && nowMs - phase.sinceMs >= holdMs)
          decisions.push({ type: 'screen.recovered', seen });
        continue;
      }
      const isDark = phase.is === 'dark';
      const recoveredAt = Math.min(this.#venueRecoveredAt.get(venueId) ?? 0, nowMs);
      const countsFromMs = Math.max(hearingSince, recoveredAt, phase.openSinceMs) + seen.windowMs;
      const badSince = isDark ? seen.lastSeenAt + seen.windowMs : phase.sinceMs;
      const heldMs = nowMs - Math.max(badSince, countsFromMs);
      // A stopped app or a hidden page is told once, not again when its TV is silent because of it.
      const isTold =
        seenIds.has(screenId) && (alarm?.isDark === isDark || (isDark && seen.hasSaidSo));
      if (isTold || heldMs < holdMs) continue;
      if (isDark) venue.dark.push(seen);
      else decisions.push({ type: 'screen.failing', seen });
    }
    this.#phases = phases;
    for (const [venueId, venue] of venues)
      for (const decision of this.#decideVenue(venueId, venue, alarms, nowMs))
        decisions.push(decision);
    for (const { id, screenId } of alarms.values()) {
      const isThere = screenId === null ? venues.has(id) : seenIds.has(id);
      if (!isThere) decisions.push({ type: 'none', alarmId: id });
    }
    return decisions;
  }

  #decideVenue(
    venueId: string,
    { tvs, gone, dark }: VenueTally<S>,
    alarms: ReadonlyMap<string, Alarm>,
    nowMs: number,
  ): AlarmDecision<S>[] {
    const isDark = gone >= minVenueTvs && 2 * gone >= tvs;
    if (!alarms.has(venueId)) {
      this.#venueGoodSince.delete(venueId);
      if (isDark && dark.length > 0) return [{ type: 'venue.dark', venueId, gone, tvs }];
      return dark.map((seen) => ({ type: 'screen.dark', seen }));
    }
    // While the venue is dark, its TVs are not told. While all are asleep, nothing is known.
    if (isDark || tvs === 0) {
      this.#venueGoodSince.delete(venueId);
      return [];
    }
    const goodSince = Math.min(this.#venueGoodSince.get(venueId) ?? nowMs, nowMs);
    this.#venueGoodSince.set(venueId, goodSince);
    if (nowMs - goodSince < holdMs) return [];
    this.#venueGoodSince.delete(venueId);
    // TVs that do not come back with the others are told after another window.
    this.#venueRecoveredAt.set(venueId, nowMs);
    return [{ type: 'venue.recovered', venueId, gone, tvs }];
  }
}
