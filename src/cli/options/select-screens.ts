import type { CommandContext } from '../command/context.ts';
import { findScreen } from '../records/find.ts';
import * as option from './option.ts';
import { type Selected, selectScreens } from './screen-selection.ts';
import { usage } from './settings.ts';

interface Choice {
  screens: readonly string[];
  venue: string | undefined;
  selector: readonly string[];
}

/** Options of commands that change named screens, or all screens that match. */
export const choiceOptions = {
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

/** Whether exactly one screen is named. The result is then its record instead of a list. */
export function isSingle({ screens, venue, selector }: Choice): boolean {
  return screens.length === 1 && venue === undefined && selector.length === 0;
}

/** Returns the chosen screens without duplicates. Throws before the command changes any of them. */
export async function chooseScreens(
  call: CommandContext,
  { screens, venue, selector }: Choice,
): Promise<Selected[]> {
  const byFilter = venue !== undefined || selector.length > 0;
  if (byFilter && screens.length > 0)
    throw usage('Name screens, or select them with --selector and --venue, but not both.');
  if (byFilter) return selectScreens(call, { selector, venue });
  if (screens.length === 0)
    throw usage('Name a screen, or select several with --selector or --venue.');
  const chosen = new Map<string, Selected>();
  for (const name of screens) {
    const screen = await findScreen(call, name);
    if (!chosen.has(screen.id)) chosen.set(screen.id, { id: screen.id, name, screen });
  }
  return [...chosen.values()];
}
