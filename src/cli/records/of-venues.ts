import type { CallArguments, ListItem } from '../../client/call.ts';
import type { ServiceReader } from '../connection/client.ts';
import { limitPages } from '../output/results.ts';
import type { ViewSource } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { findVenue } from './find.ts';

/** Returns the ids of venues, each once. Throws `venue_not_found`. */
export async function venueIdsOf(
  reader: ServiceReader,
  venues: readonly string[],
): Promise<string[]> {
  const ids = new Set<string>();
  for (const venue of venues) ids.add((await findVenue(reader, venue)).id);
  return [...ids];
}

/** Yields the pages of a list, of one venue after the other. Without venues, of the whole list. */
export async function* ofVenues<T>(
  venueIds: readonly string[],
  pages: (venueId: string | undefined) => AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  if (venueIds.length === 0) yield* pages(undefined);
  for (const venueId of venueIds) yield* pages(venueId);
}

/** Prints a list of the records of venues. Without venues, of all. */
export function listOfVenues<
  I extends 'listScreens' | 'listDevices' | 'listTickets' | 'listClaims',
>(
  call: CommandContext,
  venueIds: readonly string[],
  id: I,
  view: ViewSource<ListItem<I>>,
  query: object,
): Promise<boolean> {
  const of = (venueId: string | undefined) =>
    [{ query: { ...query, venueId } }] as unknown as CallArguments<I>;
  if (venueIds.length < 2) return call.list(id, view, ...of(venueIds[0]));
  const pages = ofVenues(venueIds, (venueId) => call.pages(id, ...of(venueId)));
  return call.results.list(limitPages(pages, call.common.limit), view, 'Nothing found.');
}
