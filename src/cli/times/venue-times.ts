import { localClock } from '../../calendar/local-clock.ts';
import { dayMs, isoMs } from '../../domain/clock.ts';
import type { ServiceReader } from '../connection/client.ts';
import type { CommandContext } from '../program/context.ts';
import { isForPeople } from '../terminal/format.ts';

/** How the times of one venue are printed. */
export interface VenueTimes {
  /** `null`: the venue has none, and times are in UTC. */
  timezone: string | null;
  /** Formats a time without its zone: `2026-12-24 18:00`. In UTC: `2026-12-24T17:00:00Z`. */
  plain(time: string | number): string;
  /** Like `plain`, and names the zone. A result names it once. */
  zoned(time: string | number): string;
}

/** The last time of a `Date`, less a day for the zone. */
const lastTimeMs = 8.64e15 - dayMs;

/**
 * Returns how the times of a venue are printed. Times are ISO 8601 with a zone, or Unix epoch
 * milliseconds.
 */
export function venueTimes(timezone: string | null): VenueTimes {
  const plain = (time: string | number) => {
    const timeMs = typeof time === 'string' ? isoMs(time) : time;
    // A service may answer anything. Such a time is printed as it came.
    if (!(Math.abs(timeMs) <= lastTimeMs)) return String(time);
    const utc = new Date(timeMs).toISOString();
    if (timezone === null) return `${utc.slice(0, 19)}Z`;
    const offsetMs = localClock(timezone, timeMs, timeMs).offsetAt(timeMs);
    const local = new Date(timeMs + offsetMs).toISOString().replace('T', ' ');
    return local.slice(0, local.slice(17, 19) === '00' ? 16 : 19);
  };
  return {
    timezone,
    plain,
    zoned: (time) => (timezone === null ? plain(time) : `${plain(time)}, ${timezone}`),
  };
}

/** Names the zone below a table of local times. */
export function noteZone(
  { common, note }: Pick<CommandContext, 'common' | 'note'>,
  timezone: string | null,
): void {
  if (timezone !== null && isForPeople(common.output) && common.jq === undefined)
    note(`Times are in ${timezone}.`);
}

/** Like `venueTimes`, and reads the venue. */
export async function readVenueTimes(reader: ServiceReader, venueId: string): Promise<VenueTimes> {
  return venueTimes((await reader.read('getVenue', { params: { id: venueId } })).timezone);
}
