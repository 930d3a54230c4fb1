import type { CommandContext } from '../command/context.ts';
import { findScreen, findVenue, type Screen } from '../records/find.ts';
import { labelFilters } from './labels.ts';
import * as option from './option.ts';
import { usage } from './settings.ts';

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

/** Whether the options select the screens, instead of their names. */
export const hasFilter = ({ options: { venue, selector } }: CommandContext) =>
  venue !== undefined || selector.length > 0;

/**
 * Whether a command names exactly one record. If so, its result is one record instead of a list.
 */
export function isSingle(call: CommandContext, names: readonly string[]): boolean {
  return names.length === 1 && !hasFilter(call);
}

/**
 * Returns all screens of the venue with these labels. Reads the whole list first, because changes
 * could move records to other pages.
 */
async function matchingScreens(call: CommandContext): Promise<Selected[]> {
  const { selector, venue } = call.options;
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

/** The screens that a command changes. */
interface Selection {
  /** Without duplicates. */
  screens: Selected[];
  /** The screen, if the command names exactly one. `undefined` otherwise. */
  single: Selected | undefined;
}

/**
 * Returns the screens of these names, or those that `selectionOptions` select. Throws before the
 * command changes any of them.
 */
export async function selectScreens(
  call: CommandContext,
  names: readonly string[],
): Promise<Selection> {
  if (hasFilter(call)) {
    if (names.length > 0)
      throw usage('Name screens, or select them with --selector and --venue, but not both.');
    return { screens: await matchingScreens(call), single: undefined };
  }
  if (names.length === 0)
    throw usage('Name a screen, or select several with --selector or --venue.');
  const chosen = new Map<string, Selected>();
  for (const name of names) {
    const screen = await findScreen(call, name);
    if (!chosen.has(screen.id)) chosen.set(screen.id, { id: screen.id, name, screen });
  }
  const screens = [...chosen.values()];
  return { screens, single: names.length === 1 ? screens[0] : undefined };
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
