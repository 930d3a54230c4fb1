import type { CommandContext } from '../command/context.ts';
import { findVenue, type Screen } from '../records/find.ts';
import { labelFilters } from './labels.ts';

interface Selection {
  /** Labels, `key=value`: all must hold. */
  selector: readonly string[];
  venue: string | undefined;
}

/** A screen that a command is to work on; `name` is what it is called in full (`Lobby/Main`), or as it was typed. */
export interface Selected {
  id: string;
  name: string;
  screen: Screen;
}

/** All screens with these labels, of this venue: the whole list at once, for changes might move its pages. */
export async function selectScreens(
  call: CommandContext,
  { selector, venue }: Selection,
): Promise<Selected[]> {
  const label = labelFilters(selector);
  const only = venue === undefined ? undefined : await findVenue(call, venue);
  const screens = await call.all('listScreens', {
    query: { label, ...(only && { venueId: only.id }) },
  });
  if (screens.length === 0) call.note('No screen is like that.');
  const venues = screens.length === 0 ? [] : only ? [only] : await call.all('listVenues');
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  return screens.map((screen) => ({
    id: screen.id,
    name: `${names.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
    screen,
  }));
}

const mostNames = 5;

/** Asks once for all of them; for none there is nothing to ask. `what` is the beginning of the question: `Delete`. */
export async function confirmSelected(
  call: CommandContext,
  what: string,
  selected: readonly Pick<Selected, 'name'>[],
): Promise<void> {
  if (selected.length === 0) return;
  const names = selected.slice(0, mostNames).map(({ name }) => `"${name}"`);
  const more = selected.length > mostNames ? `, and ${selected.length - mostNames} more` : '';
  await call.confirmDestruction(
    `${what} ${selected.length === 1 ? '1 screen' : `${selected.length} screens`}: ${names.join(', ')}${more}?`,
  );
}
