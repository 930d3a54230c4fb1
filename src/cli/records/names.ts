import type { Reader } from '../api/client.ts';
import { isPrintable } from '../terminal/escape.ts';

/** Whether a text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/**
 * Returns the name of a record as users can type it. Returns the id if the name is unprintable or a
 * UUID.
 */
export function typedName({ id, name }: { id: string; name: string }): string {
  return isPrintable(name) && !isUuid(name) ? name : id;
}

export async function venueName(reader: Pick<Reader, 'read'>, id: string): Promise<string> {
  return (await reader.read('getVenue', { params: { id } })).name;
}

export async function venueNames(reader: Reader): Promise<Map<string, string>> {
  return new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
}

/** Returns the full name of a screen: `Lobby/Main`. */
export async function screenPath(
  reader: Pick<Reader, 'read'>,
  { venueId, name }: { venueId: string; name: string },
): Promise<string> {
  return `${await venueName(reader, venueId)}/${name}`;
}

export async function screenPathById(reader: Pick<Reader, 'read'>, id: string): Promise<string> {
  return screenPath(reader, await reader.read('getScreen', { params: { id } }));
}

/** Returns the full names of screens by id. Default: the screens of all venues. */
export async function screenPaths(reader: Reader, venueId?: string): Promise<Map<string, string>> {
  const query = venueId === undefined ? {} : { venueId };
  const screens = await reader.all('listScreens', { query });
  const venues = await venueNames(reader);
  return new Map(
    screens.map((screen) => [
      screen.id,
      `${venues.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
    ]),
  );
}
