import type { Reader } from '../api/client.ts';
import type { Screen } from './find.ts';

/** What a screen is called in full: `Lobby/Main`. */
export async function screenPath(
  reader: Reader,
  { venueId, name }: Pick<Screen, 'venueId' | 'name'>,
): Promise<string> {
  const venue = await reader.read('getVenue', { params: { id: venueId } });
  return `${venue.name}/${name}`;
}

/** What screens are called in full, by their ids: those of one venue, or all. */
export async function screenPaths(reader: Reader, venueId?: string): Promise<Map<string, string>> {
  const query = venueId === undefined ? {} : { venueId };
  const screens = await reader.all('listScreens', { query });
  const venues = new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
  return new Map(
    screens.map((screen) => [
      screen.id,
      `${venues.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
    ]),
  );
}
