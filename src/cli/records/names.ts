import { isGuid } from '../../domain/id.ts';
import type { ServiceReader } from '../connection/client.ts';
import { isPrintable } from '../terminal/escape.ts';

/**
 * Returns the name of a record as users can type it. Returns the id if the name is unprintable or a
 * UUID.
 */
export function typedName({ id, name }: { id: string; name: string }): string {
  return isPrintable(name) && !isGuid(name) ? name : id;
}

export async function venueName(reader: Pick<ServiceReader, 'read'>, id: string): Promise<string> {
  return (await reader.read('getVenue', { params: { id } })).name;
}

export async function venueNames(reader: ServiceReader): Promise<Map<string, string>> {
  return new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
}

/** Returns the full name of a screen: `Lobby/Main`. */
export async function screenPath(
  reader: Pick<ServiceReader, 'read'>,
  { venueId, name }: { venueId: string; name: string },
): Promise<string> {
  return `${await venueName(reader, venueId)}/${name}`;
}

export async function screenPathById(
  reader: Pick<ServiceReader, 'read'>,
  id: string,
): Promise<string> {
  return screenPath(reader, await reader.read('getScreen', { params: { id } }));
}

/** Returns the full names of screens by id. Default: the screens of all venues. */
export async function screenPaths(
  reader: ServiceReader,
  venueId?: string,
): Promise<Map<string, string>> {
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
