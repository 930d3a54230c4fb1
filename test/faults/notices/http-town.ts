import { setImmediate } from 'node:timers/promises';
import { minuteMs } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { ToldNotice } from '../../service/notices/judge-notices.ts';
import {
  isWithin,
  stepMs,
  type TownTroubles,
  type TownTv,
  type TownVenue,
} from '../../service/notices/watched-town.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { manager } from '../../support/service/management.ts';
import { type BoundTv, startService } from '../../support/service/service.ts';
import { faultyStore } from '../../support/stores/faulty-store.ts';

const callMs = 2 * minuteMs;
const stepsPerCall = callMs / stepMs;
const watchTypes = ['screen.dark', 'screen.recovered', 'venue.dark', 'venue.recovered'];

interface HttpTownPlan {
  venues: number;
  tvsPerVenue: number;
  /** Venues with hours, from 08:00 to 22:00. The first ones. */
  withHours: number;
}

/**
 * A whole service with TVs that are registered and call over real HTTP, at midnight. The service
 * runs on a clock of the test, which advances once all calls of a step are answered.
 */
export async function makeHttpTown({ venues: count, tvsPerVenue, withHours }: HttpTownPlan) {
  const clock = new ManualClock(Date.UTC(2026, 10, 23));
  const inner = await openStore('memory:', { clock });
  const store = faultyStore(inner);
  const service = await startService({ clock, store });
  const admin = manager(service);
  const bound = new Map<TownTv, BoundTv>();
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const town: TownTroubles = { startMs: clock.now(), venues: [], tvs: [], down: [], away: [] };
  for (let n = 0; n < count; n++) {
    const hours = n < withHours ? [{ days, from: '08:00', to: '22:00' }] : null;
    const body = { name: `Venue ${n}`, timezone: 'UTC', hours };
    const { id } = (await admin.post('/v1/venues', body)).body;
    const venue: TownVenue = { id, open: hours ? [] : undefined, tvs: [] };
    for (let place = 0; place < tvsPerVenue; place++) {
      const screen = await admin.screen(id, `Screen ${place}`);
      const tv = { screenId: screen.id, venueId: id, off: [] };
      bound.set(tv, await service.tv(screen.id));
      venue.tvs.push(tv);
      town.tvs.push(tv);
    }
    town.venues.push(venue);
  }
  let step = 0;
  let requests = 0;
  let isClosed = false;

  /** A TV fetches its playlist, or reports that it is alive. */
  async function call(tv: TownTv): Promise<void> {
    const { send } = bound.get(tv) as BoundTv;
    const { status } =
      requests++ % 2 === 0
        ? await send('GET', 'playlist')
        : await send('POST', 'events', {
            body: [{ type: 'heartbeat', timestamp: Math.floor(clock.now() / 1000) }],
          });
    if (![200, 202, 404].includes(status) && store.fault === 'no')
      throw new Error(`A TV got ${status}.`);
  }

  async function live(): Promise<void> {
    clock.advance(stepMs);
    step++;
    const nowMs = clock.now();
    store.fault = isWithin(town.away, nowMs) ? 'error' : 'no';
    const isDown = isWithin(town.down, nowMs);
    // A service does not start without its store.
    const mayRun = !isDown && (!isClosed || store.fault === 'no');
    if (!mayRun && !isClosed) await service.close();
    if (mayRun && isClosed) await service.restart();
    isClosed = !mayRun;
    if (isClosed) return;
    const calling = town.tvs.filter(
      ({ off }, place) => step % stepsPerCall === place % stepsPerCall && !isWithin(off, nowMs),
    );
    await Promise.all(calling.map(call));
    for (let turn = 0; turn < 5; turn++) await setImmediate();
  }

  async function liveUntil(timeMs: number): Promise<void> {
    while (clock.now() < timeMs) await live();
  }

  /** Returns the notices of the watch, oldest first. */
  async function notices() {
    const all: ToldNotice[] = [];
    for (let query = ''; ; ) {
      const { body } = await admin.get(`/v1/notices?order=asc&limit=200${query}`);
      for (const { at, type, venueId, screenId } of body.items)
        if (watchTypes.includes(type)) all.push({ at: Date.parse(at), type, venueId, screenId });
      if (body.nextCursor === null) return all;
      query = `&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
  }

  async function close(): Promise<void> {
    await service.close();
    await inner.close();
  }

  return { ...town, clock, liveUntil, notices, requests: () => requests, close };
}
