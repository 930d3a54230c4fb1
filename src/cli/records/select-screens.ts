import type { Screen } from '../../client/entities.ts';
import { SignageError } from '../../domain/error.ts';
import * as option from '../input/option.ts';
import { selectorOption } from '../input/selector.ts';
import { type Setting, usage } from '../input/settings.ts';
import type { CommandContext } from '../program/context.ts';
import { countText } from '../terminal/text.ts';
import { findScreen } from './find.ts';
import { venueNames } from './names.ts';
import { ofVenues, venueIdsOf } from './of-venues.ts';

/** A screen that the command line names or selects. */
export interface Selected {
  id: string;
  /** The full name (`Lobby/Main`), or the name as typed. */
  name: string;
  screen: Screen;
}

/** Venues whose records add up. */
export function venueOption(help: string): Setting<readonly string[]> {
  return option.repeated('--venue <venue>', help, 'venue');
}

/** Options that select screens, for commands that also accept screen names. */
export const selectionOptions = {
  selector: selectorOption('instead of names: all screens with these labels'),
  venue: venueOption(
    'instead of names: all screens of this venue; with --selector those that match both',
  ),
  all: option.flag('--all', 'instead of names: all screens'),
  allowNone: option.flag('--allow-none', 'end with exit code 0 if no screen matches, instead of 3'),
};

/** Whether the command line selects the screens with options, instead of naming them. */
export const hasFilter = ({ options: { venue, selector, all } }: CommandContext): boolean =>
  all || venue.length > 0 || selector.length > 0;

/**
 * Whether a command names exactly one record. If so, its result is one record instead of a list.
 */
export function isSingle(call: CommandContext, names: readonly string[]): boolean {
  return names.length === 1 && !hasFilter(call);
}

/** Makes the error for a selection without screens, perhaps because of a typo in a label. */
export function noneMatches(
  { options: { venue, selector } }: CommandContext,
  advice = ' --allow-none permits an empty selection.',
): SignageError {
  const filters = [
    venue.map((one: string) => `--venue "${one}"`).join(' or '),
    ...selector.map((one: string) => `--selector "${one}"`),
  ].filter((filter) => filter !== '');
  const message = filters.length > 0 ? `matches ${filters.join(' and ')}` : 'exists';
  return new SignageError('screen_not_found', `No screen ${message}.`, {
    hint: `signage screen list shows all screens and labels.${advice}`,
  });
}

/**
 * Returns all screens of the venues that match the selectors. Reads the whole list first, because
 * changes could move records to other pages. Throws `screen_not_found` if there are none, unless
 * `--allow-none` is given.
 */
async function matchingScreens(call: CommandContext): Promise<Selected[]> {
  const { selector, venue, all } = call.options;
  if (all && (venue.length > 0 || selector.length > 0))
    throw usage('--all means all screens: leave out --selector and --venue.');
  const query = { selector: [...selector] };
  const screens: Screen[] = [];
  for await (const page of ofVenues(await venueIdsOf(call, venue), (venueId) =>
    call.pages('listScreens', { query: { ...query, venueId } }),
  ))
    for (const screen of page) screens.push(screen);
  if (screens.length === 0 && !call.options.allowNone) throw noneMatches(call);
  if (screens.length === 0) call.note('No screen matches.');
  const names = screens.length === 0 ? new Map<string, string>() : await venueNames(call);
  return screens.map((screen) => ({
    id: screen.id,
    name: `${names.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
    screen,
  }));
}

/** The screens that the command line names or selects. */
export interface Selection {
  /** Without duplicates. */
  screens: Selected[];
  /** The screen, if the command names exactly one. `undefined` otherwise. */
  single: Selected | undefined;
}

/**
 * Returns the screens with these names, or the screens that `selectionOptions` select. Throws
 * before the command changes any of them.
 */
export async function selectScreens(
  call: CommandContext,
  names: readonly string[],
): Promise<Selection> {
  if (hasFilter(call)) {
    if (names.length > 0)
      throw usage('Name screens, or select them with --selector, --venue or --all, but not both.');
    return { screens: await matchingScreens(call), single: undefined };
  }
  if (names.length === 0)
    throw usage('Name a screen, or select several with --selector, --venue or --all.');
  const chosen = new Map<string, Selected>();
  for (const name of names) {
    const screen = await findScreen(call, name);
    if (!chosen.has(screen.id)) chosen.set(screen.id, { id: screen.id, name, screen });
  }
  const screens = [...chosen.values()];
  return { screens, single: names.length === 1 ? screens[0] : undefined };
}

/** Returns filters for a list that match all selected screens, and possibly others. */
export function selectionFilters(call: CommandContext, screens: readonly Selected[]) {
  const venueIds = new Set(screens.map(({ screen }) => screen.venueId));
  const [venueId] = venueIds;
  return { selector: [...call.options.selector], ...(venueIds.size === 1 && { venueId }) };
}

const maxShownNames = 5;

function questionOf(action: string, selected: readonly Pick<Selected, 'name'>[]): string {
  const names = selected.slice(0, maxShownNames).map(({ name }) => `"${name}"`);
  const hidden = selected.length - names.length;
  const more = hidden > 0 ? `, and ${hidden.toLocaleString('en')} more` : '';
  return `${action} ${countText(selected.length, 'screen')}: ${names.join(', ')}${more}?`;
}

/**
 * Asks one question before all selected screens are changed. Does not ask if there are none.
 * `action` is the beginning of the question, such as `Publish on`.
 */
export async function confirmSelected(
  call: CommandContext,
  action: string,
  selected: readonly Pick<Selected, 'name'>[],
): Promise<void> {
  if (selected.length > 0) await call.confirmChange(questionOf(action, selected));
}

/** Like `confirmSelected`, for a command that destroys: requires `--yes` without a terminal. */
export async function confirmDestroyed(
  call: CommandContext,
  action: string,
  selected: readonly Pick<Selected, 'name'>[],
): Promise<void> {
  if (selected.length > 0) await call.confirmDestruction(questionOf(action, selected));
}
