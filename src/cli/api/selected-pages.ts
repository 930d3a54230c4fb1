import type { ListId, ListItem } from '../../client/call.ts';
import { matchesSelector, parseSelector } from '../../domain/selector.ts';
import { isUnknownParameter } from './unknown-parameter.ts';

type Query = Readonly<Record<string, unknown>>;
type Screen = ListItem<'listScreens'>;
type Device = ListItem<'listDevices'>;

/** Yields the pages of a list of the service. */
type ReadPages = <I extends ListId>(id: I, query: Query) => AsyncIterable<ListItem<I>[]>;

/**
 * Yields the pages of a list with `?selector=`. A service of an earlier version refuses the
 * parameter (docs/protocol.md §5.3). In that case, reads the whole list and filters it here.
 */
export async function* selectedPages<I extends ListId>(
  readPages: ReadPages,
  id: I,
  { selector: texts, ...query }: Query & { selector: readonly string[] },
): AsyncGenerator<ListItem<I>[]> {
  try {
    yield* readPages(id, { ...query, selector: texts });
    return;
  } catch (error) {
    // The command line has validated the selector, so the service rejects the parameter itself.
    if (!isUnknownParameter(error, 'selector')) throw error;
  }
  const selector = texts.flatMap(parseSelector);
  const labelsOf = await labelsOfScreens(readPages, query);
  const matches = (item: Screen | Device) => {
    const labels = labelsOf.get('screenId' in item ? item.screenId : item.id);
    return labels !== undefined && matchesSelector(selector, labels.screen, labels.venue);
  };
  const { limit: _, ...unlimited } = query;
  for await (const page of readPages(id, unlimited))
    yield page.filter((item) => matches(item as unknown as Screen | Device));
}

/** Returns the labels of each screen, and of its venue, by the id of the screen. */
async function labelsOfScreens(readPages: ReadPages, { venueId }: Query) {
  const venues = new Map<string, Record<string, string>>();
  for await (const page of readPages('listVenues', {}))
    for (const { id, labels } of page) venues.set(id, labels);
  const screens = new Map<string, Record<'screen' | 'venue', Record<string, string>>>();
  for await (const page of readPages('listScreens', { venueId }))
    for (const { id, labels, venueId } of page)
      screens.set(id, { screen: labels, venue: venues.get(venueId) ?? {} });
  return screens;
}
