import type { CommandContext } from '../command/context.ts';
import { findScreen, findVenue, type Screen } from '../records/find.ts';
import { labelFilters } from './labels.ts';
import * as option from './option.ts';
import { usage } from './settings.ts';

interface ScreenChoice {
  screens: readonly string[];
  venue: string | undefined;
  /** Labels in the form `key=value`. A screen must have all of them. */
  selector: readonly string[];
}

/** A screen that a command changes. */
export interface Selected {
  id: string;
  /** The full name (`Lobby/Main`), or the name as typed. */
  name: string;
  screen: Screen;
}

/** Options of commands that change named screens, or all screens that match. */
export const selectionOptions = {
  selector: option.repeated(
    '--selector <key=value>',
    'instead of names: all screens with this label',
  ),
  venue: option.text(
    '--venue <venue>',
    'instead of names: all screens of this venue; with --selector those that match both',
    'venue',
  ),
};

/**
 * Whether exactly one screen is named. If so, the result of a command is one record instead of a
 * list.
 */
export function isSingle({ screens, venue, selector }: ScreenChoice): boolean {
  return screens.length === 1 && venue === undefined && selector.length === 0;
}

/**
 * Returns all screens of the venue with these labels. Reads the whole list first, because changes
 * could move records to other pages.
 */
async function matchingScreens(
  call: CommandContext,
  { selector, venue }: Pick<ScreenChoice, 'selector' | 'venue'>,
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

/** Returns the chosen screens without duplicates. Throws before the command changes any of them. */
export async function resolveScreens(
  call: CommandContext,
  { screens, venue, selector }: ScreenChoice,
): Promise<Selected[]> {
  const byFilter = venue !== undefined || selector.length > 0;
  if (byFilter && screens.length > 0)
    throw usage('Name screens, or select them with --selector and --venue, but not both.');
  if (byFilter) return matchingScreens(call, { selector, venue });
  if (screens.length === 0)
    throw usage('Name a screen, or select several with --selector or --venue.');
  const chosen = new Map<string, Selected>();
  for (const name of screens) {
    const screen = await findScreen(call, name);
    if (!chosen.has(screen.id)) chosen.set(screen.id, { id: screen.id, name, screen });
  }
  return [...chosen.values()];
}

const maxShownNames = 5;

/**
 * Asks one question for all selected screens. Does not ask if there are none. `action` is the first
 * word of the question, such as `Delete`.
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
