import type { Venue } from '../../client/entities.ts';
import type { ServiceReader } from '../connection/client.ts';
import { usage } from '../input/settings.ts';
import type { ReadZone } from '../input/time.ts';
import type { Selected } from '../records/select-screens.ts';
import { shellQuote } from '../terminal/text.ts';

/** Reads venues, all at once if there are several. */
async function readVenues(reader: ServiceReader, ids: ReadonlySet<string>): Promise<Venue[]> {
  const [id] = ids;
  if (id !== undefined && ids.size === 1)
    return [await reader.read('getVenue', { params: { id } })];
  const venues = await reader.all('listVenues');
  return venues.filter((venue) => ids.has(venue.id));
}

/**
 * Returns the one time zone of venues. Throws `usage` if there is none, or more than one. Without a
 * zone, a date alone is UTC, as in the API.
 */
export const zoneOfVenues =
  (reader: ServiceReader, venueIds: () => Promise<readonly string[]>): ReadZone =>
  async (source, text) => {
    const venues = await readVenues(reader, new Set(await venueIds()));
    const refuse = (why: string, hint: string) =>
      usage(`${source} has no time zone: "${text}", and ${why}.`, hint);
    const example = 'Write its offset, such as 2026-12-24T18:00+01:00, or Z for UTC.';
    const isDate = !text.includes(':');
    if (isDate && venues.every(({ timezone }) => timezone === null)) return 'UTC';
    const none = venues.find(({ timezone }) => timezone === null);
    if (none)
      throw refuse(
        `the venue "${none.name}" has none`,
        `${example} Or set that of the venue: signage venue update ${shellQuote(none.name)} --timezone Europe/Berlin`,
      );
    const zones = new Set(venues.map(({ timezone }) => timezone as string));
    const [zone] = zones;
    if (zone !== undefined && zones.size === 1) return zone;
    const why =
      zone === undefined ? 'no venue is named' : `the screens are in ${[...zones].join(', ')}`;
    throw refuse(why, example);
  };

/** Like `zoneOfVenues`, of the venues of screens. */
export const zoneOfScreens = (
  reader: ServiceReader,
  select: () => Promise<{ screens: readonly Pick<Selected, 'screen'>[] }>,
): ReadZone =>
  zoneOfVenues(reader, async () => (await select()).screens.map(({ screen }) => screen.venueId));
