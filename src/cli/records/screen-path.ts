import type { Reader } from '../api/client.ts';
import type { Screen } from './find.ts';

/** Returns the full name of a screen: `Lobby/Main`. */
export async function screenPath(
  reader: Reader,
  { venueId, name }: Pick<Screen, 'venueId' | 'name'>,
): Promise<string> {
  const venue = await reader.read('getVenue', { params: { id: venueId } });
  return `${venue.name}/${name}`;
}

/** Returns the full names by id of the screens of a venue, or of all screens. */
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
