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

/** Of commands that change the screens that are named, or all that are like that. */
export const choiceOptions = {
  selector: option.repeated(
    '--selector <key=value>',
    'in place of names: all screens with this label',
  ),
  venue: option.text(
    '--venue <venue>',
    'in place of names: all screens of this venue; with --selector those that are both',
    'venue',
  ),
};

/** Whether one screen is named: the result is its record then, and not a line for each. */
export function isSingle({ screens, venue, selector }: Choice): boolean {
  return screens.length === 1 && venue === undefined && selector.length === 0;
}

/** The chosen screens, each once; those that are named are called as they were typed. Throws before anything is done to any of them. */
export async function chooseScreens(
  call: CommandContext,
  { screens, venue, selector }: Choice,
): Promise<Selected[]> {
  const byFilter = venue !== undefined || selector.length > 0;
  if (byFilter && screens.length > 0)
    throw usage('Name screens, or choose them with --selector and --venue, but not both.');
  if (byFilter) return selectScreens(call, { selector, venue });
  if (screens.length === 0)
    throw usage('Name a screen, or choose many with --selector or --venue.');
  const chosen = new Map<string, Selected>();
  for (const name of screens) {
    const screen = await findScreen(call, name);
    if (!chosen.has(screen.id)) chosen.set(screen.id, { id: screen.id, name, screen });
  }
  return [...chosen.values()];
}
