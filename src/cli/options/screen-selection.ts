import type { CommandContext } from '../command/context.ts';
import { findVenue, type Screen } from '../records/find.ts';
import { labelFilters } from './labels.ts';

interface Selection {
  /** Labels, `key=value`. A screen must have all of them. */
  selector: readonly string[];
  venue: string | undefined;
}

/** A screen that a command changes. */
export interface Selected {
  id: string;
  /** The full name (`Lobby/Main`), or the name as typed. */
  name: string;
  screen: Screen;
}

/**
 * Returns all screens of the venue with these labels. Reads the whole list first, because changes
 * could move records to other pages.
 */
export async function selectScreens(
  call: CommandContext,
  { selector, venue }: Selection,
): Promise<Selected[]> {
  const label = labelFilters(selector);
  const onlyVenue = venue === undefined ? undefined : await findVenue(call, venue);
  const screens = await call.all('listScreens', {
    query: { label, ...(onlyVenue && { venueId: onlyVenue.id }) },
  });
  if (screens.length === 0) call.note('No screen matches.');
  const venues = screens.length === 0 ? [] : onlyVenue ? [onlyVenue] : await call.all('listVenues');
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  return screens.map((screen) => ({
    id: screen.id,
    name: `${names.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
    screen,
  }));
}

const maxShownNames = 5;

/**
 * Asks one question for all selected screens; none when there are no screens. `action` is the first
 * word of the question: `Delete`.
 */
export async function confirmSelected(
  call: CommandContext,
  action: string,
  selected: readonly Pick<Selected, 'name'>[],
): Promise<void> {
  if (selected.length === 0) return;
  const names = selected.slice(0, maxShownNames).map(({ name }) => `"${name}"`);
  const more =
    selected.length > maxShownNames ? `, and ${selected.length - maxShownNames} more` : '';
  await call.confirmDestruction(
    `${action} ${selected.length === 1 ? '1 screen' : `${selected.length} screens`}: ${names.join(', ')}${more}?`,
  );
}
