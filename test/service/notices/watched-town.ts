import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { makeIdSource } from '../../../src/domain/id.ts';
import type { Notice } from '../../../src/domain/notices/rows.ts';
import type { ServiceDependencies } from '../../../src/service/context.ts';
import { NoticeFigures } from '../../../src/service/notices/notice-figures.ts';
import { makeNoticeLog } from '../../../src/service/notices/notice-log.ts';
import { ScreenWatch } from '../../../src/service/notices/screen-watch.ts';
import { makeScreenStatus } from '../../../src/service/status/screen-status.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { sampleRow } from '../../../src/testing/store-suite/sample-rows.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { playlistRow, putPlaylist } from '../../support/service/playlist-rows.ts';
import { faultyStore } from '../../support/stores/faulty-store.ts';

/** Time between two looks of the watch, and two steps of the town. */
export const stepMs = 15 * secondMs;
/** With the default config, a TV is dark after 10 minutes. */
export const windowMs = 10 * minuteMs;
/** The latest time at which a TV is told, after its last call. */
export const tellMs = windowMs + 3 * minuteMs;

/** A part of time, from the start up to before the end. */
export interface Span {
  startMs: number;
  endMs: number;
}

export const isWithin = (spans: readonly Span[], timeMs: number) =>
  spans.some(({ startMs, endMs }) => startMs <= timeMs && timeMs < endMs);

export interface TownTv {
  screenId: string;
  venueId: string;
  /** When it has no power or no network. */
  off: Span[];
}

export interface TownVenue {
  id: string;
  /** When it is open. `undefined`: always. */
  open: Span[] | undefined;
  tvs: TownTv[];
}

/** What happens to TVs and to the service. */
export interface TownTroubles {
  startMs: number;
  venues: TownVenue[];
  tvs: TownTv[];
  /** When the service does not run, or its store is away. */
  down: Span[];
  away: Span[];
}

export interface TownPlan {
  venues: number;
  tvsPerVenue: number;
  /** Venues with hours, from 08:00 to 22:00. The first ones. */
  withHours?: number;
  /** A date on which venues with hours are closed. */
  closedOn?: string;
  /** Default: 1. */
  minutesBetweenCalls?: number;
}

export type Town = Awaited<ReturnType<typeof makeTown>>;

/** A service with TVs that are paired, at midnight. */
export async function makeTown({
  venues: count,
  tvsPerVenue,
  withHours = 0,
  closedOn,
  minutesBetweenCalls = 1,
}: TownPlan) {
  const stepsPerCall = (minutesBetweenCalls * minuteMs) / stepMs;
  const clock = new ManualClock(Date.UTC(2026, 10, 23));
  const startMs = clock.now();
  const inner = await openStore('memory:', { clock });
  const store = faultyStore(inner);
  const newId = makeIdSource(clock);
  const deps = { store, clock, newId } as unknown as ServiceDependencies;
  const status = makeScreenStatus(deps);
  const log = makeNoticeLog(inner);
  const venues: TownVenue[] = [];
  const devices = new Map<TownTv, string>();
  for (let n = 0; n < count; n++) {
    const venueId = newId();
    const hours =
      n < withHours
        ? [
            {
              days: [...(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const)],
              from: '08:00',
              to: '22:00',
            },
          ]
        : null;
    const venue: TownVenue = { id: venueId, open: hours ? [] : undefined, tvs: [] };
    await inner.write(async (tx) => {
      const place = { tenantId: 'tenant', venueId };
      const name = `Venue ${n}`;
      const hoursExceptions =
        hours && closedOn ? [{ dates: { from: closedOn, until: closedOn } }] : null;
      const dates = { createdAt: startMs, updatedAt: startMs };
      const times = {
        timezone: 'UTC',
        hours,
        ...(hoursExceptions && { hoursExceptions }),
        ...dates,
      };
      await tx.put(
        'venues',
        sampleRow('venues', 1, { id: venueId, tenantId: 'tenant', name, ...times }),
      );
      for (let place1 = 0; place1 < tvsPerVenue; place1++) {
        const [screenId, deviceId] = [newId(), newId()];
        const dates = { createdAt: startMs, updatedAt: startMs };
        const none = { hours: null, hoursExceptions: undefined };
        const screen = { id: screenId, ...place, name: `Screen ${place1}`, ...none, deviceId };
        await tx.put('screens', sampleRow('screens', 1, { ...screen, state: 'active', ...dates }));
        const device = { id: deviceId, ...place, screenId, state: 'bound' as const };
        await tx.put('devices', sampleRow('devices', 1, { ...device, createdAt: startMs }));
        const tv = { screenId, venueId, off: [] };
        venue.tvs.push(tv);
        devices.set(tv, deviceId);
      }
    });
    venues.push(venue);
  }
  const tvs = venues.flatMap((venue) => venue.tvs);
  /** When the service does not run, or its store is away. */
  const down: Span[] = [];
  const away: Span[] = [];
  let watch = new ScreenWatch({ ...deps, store }, status.judgeAll, new NoticeFigures());
  let step = 0;
  let wasDown = false;

  /** Lives through one step: TVs call, and the watch looks. */
  async function live(): Promise<void> {
    clock.advance(stepMs);
    step++;
    const nowMs = clock.now();
    if (isWithin(down, nowMs)) {
      wasDown = true;
      return;
    }
    if (wasDown) watch = new ScreenWatch({ ...deps, store }, status.judgeAll, new NoticeFigures());
    wasDown = false;
    store.fault = isWithin(away, nowMs) ? 'error' : 'no';
    if (store.fault === 'no')
      for (const [place, tv] of tvs.entries())
        if (step % stepsPerCall === place % stepsPerCall && !isWithin(tv.off, nowMs)) {
          const activity = { lastSeenAt: nowMs, lastPlaylistAt: nowMs };
          store.touch('device', devices.get(tv) as string, activity);
        }
    await watch.look().catch(() => {});
    if (store.fault === 'no') await log.collect();
  }

  async function liveUntil(timeMs: number): Promise<void> {
    while (clock.now() < timeMs) await live();
  }

  /** Restarts the service at the next step, without warning. */
  const restart = () => {
    wasDown = true;
  };

  async function notices(): Promise<Notice[]> {
    const all: Notice[] = [];
    for (let after: string | undefined; ; ) {
      const page = await log.page({ order: 'asc', limit: 1000, after });
      all.push(...page.items);
      if (page.next === null) return all;
      after = page.next;
    }
  }

  /** Records when the app of a TV was stopped. `null`: it runs. */
  const stopApp = (tv: TownTv, stoppedAt: number | null) =>
    store.touch('device', devices.get(tv) as string, { stoppedAt });

  /** Publishes for a TV, and records when its page was hidden. `until`: `null` while it is. */
  async function hide(tv: TownTv, since: number, until: number | null): Promise<void> {
    await inner.write(async (tx) => {
      const screen = (await tx.get('screens', tv.screenId))!;
      await putPlaylist(tx, playlistRow(screen));
    });
    store.touch('device', devices.get(tv) as string, { hidden: { since, until } });
  }

  /** Revokes a TV, whose screen is free then. */
  async function revoke(tv: TownTv): Promise<void> {
    await inner.write(async (tx) => {
      const screen = (await tx.get('screens', tv.screenId))!;
      await tx.put('screens', { ...screen, state: 'provisioning', deviceId: null });
      const device = (await tx.get('devices', devices.get(tv) as string))!;
      await tx.put('devices', { ...device, state: 'suspended' });
    });
  }

  const close = () => inner.close();
  const times = { clock, startMs, down, away };
  return { ...times, venues, tvs, restart, liveUntil, notices, stopApp, hide, revoke, close };
}

/** The random numbers of a seed, from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Plans nights, reboots, outages of TVs and venues, restarts and outages of the service. */
export function planTrouble(town: TownTroubles, days: number, seed: number): void {
  const random = randomOf(seed);
  const between = (low: number, high: number) => low + random() * (high - low);
  const span = (startMs: number, lengthMs: number) => ({ startMs, endMs: startMs + lengthMs });
  for (let day = 0; day < days; day++) {
    const midnightMs = town.startMs + day * dayMs;
    for (const { open, tvs } of town.venues) {
      open?.push(span(midnightMs + 8 * hourMs, 14 * hourMs));
      const router =
        random() < 0.1
          ? span(midnightMs + between(1, 20) * hourMs, between(5, 90) * minuteMs)
          : undefined;
      for (const tv of tvs) {
        if (open) {
          // The staff switch it on a little before or after the opening.
          tv.off.push(span(midnightMs, 8 * hourMs + between(-20, 4) * minuteMs));
          tv.off.push(span(midnightMs + 22 * hourMs + between(0, 30) * minuteMs, 2 * hourMs));
        }
        if (random() < 0.5)
          tv.off.push(span(midnightMs + between(0, 24) * hourMs, between(1, 5) * minuteMs));
        if (random() < 0.15)
          tv.off.push(span(midnightMs + between(0, 20) * hourMs, between(8, 180) * minuteMs));
        if (router) tv.off.push(router);
      }
    }
    if (random() < 0.7)
      town.down.push(span(midnightMs + between(0, 23) * hourMs, between(0.2, 30) * minuteMs));
    if (random() < 0.5)
      town.away.push(span(midnightMs + between(0, 23) * hourMs, between(0.2, 20) * minuteMs));
  }
}
