import type { ZoneOffsets } from '../../calendar/zone-offsets.ts';
import { BoundedMap } from '../../domain/bounded-map.ts';
import { minuteMs } from '../../domain/clock.ts';
import type { CountedEvent } from '../../domain/events/event.ts';
import { epochMs } from '../../domain/fields.ts';
import type { ServiceDependencies } from '../context.ts';

/** The time zone of a venue. `null`: it has none. */
interface KnownZone {
  timezone: string | null;
  readAt: number;
}

/** Time after which a zone is read again, in case the store did not tell of a change. */
const knownForMs = 5 * minuteMs;
const venuesKnown = 10_000;
const zonesKnown = 1000;
const utc = [0];

/** Loads the library of time zones only for venues that have one. */
async function offsetsOf(timezone: string): Promise<ZoneOffsets> {
  const { ZoneOffsets } = await import('../../calendar/zone-offsets.ts');
  return new ZoneOffsets(timezone);
}

/** Returns a function that tells how far the clock of a venue is ahead of UTC. */
export function makeVenueClocks({ store, clock }: Pick<ServiceDependencies, 'store' | 'clock'>) {
  let venues = new BoundedMap<string, KnownZone>(venuesKnown);
  const zones = new BoundedMap<string, ZoneOffsets>(zonesKnown);
  let isWatching = false;

  function watch(): void {
    if (isWatching) return;
    isWatching = true;
    store.watch('*', (topic) => {
      if (topic.startsWith('venues/')) venues.delete(topic.slice('venues/'.length));
      else if (topic === '*') venues = new BoundedMap(venuesKnown);
    });
  }

  async function zoneOf(venueId: string): Promise<string | null> {
    const known = venues.get(venueId);
    if (known && Math.abs(clock.now() - known.readAt) < knownForMs) return known.timezone;
    watch();
    const readAt = clock.now();
    const timezone = (await store.read.get('venues', venueId))?.timezone ?? null;
    venues.set(venueId, { timezone, readAt });
    return timezone;
  }

  /**
   * Returns the offsets of a venue at each event and at the receipt (`BatchSums.offsets`), by the
   * time zone that it has now. Without one: UTC.
   */
  return async (venueId: string, events: readonly CountedEvent[]): Promise<readonly number[]> => {
    const timezone = await zoneOf(venueId);
    if (timezone === null) return utc;
    const zone = zones.get(timezone) ?? (await offsetsOf(timezone));
    zones.set(timezone, zone);
    const now = zone.at(store.now());
    const offsets = events.map(({ timestamp }) => zone.at(epochMs(timestamp)));
    return offsets.every((offset) => offset === now) ? [now] : [...offsets, now];
  };
}
