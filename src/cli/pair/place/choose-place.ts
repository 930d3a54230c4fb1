import { hasCode } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { usage } from '../../options/settings.ts';
import { findScreen, type Screen, type Venue } from '../../records/find.ts';
import { isUuid } from '../../records/uuid.ts';
import type { NewRecord } from './ask-name.ts';
import { askScreen, screenNamed } from './choose-screen.ts';
import { askVenue, venueNamed } from './choose-venue.ts';
import type { PairRights } from './pair-rights.ts';

/** The chosen venue and screen. Either may still have to be created. */
export interface ChosenPlace {
  venue: Venue | NewRecord;
  screen: Screen | NewRecord;
}

interface Named {
  venue: string | undefined;
  screen: string | undefined;
}

/** Reads the place from the command line: `Lobby/Main`, an id, or `--venue` and `--screen`. */
function namedPlace({ args, options }: CommandContext): Named {
  const given: string | undefined = args.screen;
  if (given === undefined) return { venue: options.venue, screen: options.screen };
  if (options.venue !== undefined || options.screen !== undefined)
    throw usage('Name the screen as VENUE/SCREEN, or with --venue and --screen, not both.');
  const slash = given.indexOf('/');
  if (slash < 0) return { venue: undefined, screen: given };
  return { venue: given.slice(0, slash), screen: given.slice(slash + 1) };
}

/**
 * Finds a screen named without its venue. With `--create`, asks for the venue of a missing screen.
 */
async function screenAnywhere(
  call: CommandContext,
  rights: PairRights,
  name: string,
): Promise<ChosenPlace> {
  try {
    const screen = await findScreen(call, name);
    return { venue: await call.read('getVenue', { params: { id: screen.venueId } }), screen };
  } catch (error) {
    if (!hasCode(error, 'screen_not_found') || isUuid(name) || !call.options.create) throw error;
    const venue = await askVenue(call, rights);
    return { venue, screen: await screenNamed(call, rights, venue, name) };
  }
}

/** Determines which screen to pair, and asks for missing names. Creates nothing yet. */
export async function choosePlace(call: CommandContext, rights: PairRights): Promise<ChosenPlace> {
  const named = namedPlace(call);
  if (named.venue === undefined && named.screen !== undefined)
    return screenAnywhere(call, rights, named.screen);
  const venue =
    named.venue === undefined
      ? await askVenue(call, rights)
      : await venueNamed(call, rights, named.venue);
  const isNamed = named.screen !== undefined && named.screen !== '';
  return {
    venue,
    screen: isNamed
      ? await screenNamed(call, rights, venue, named.screen ?? '')
      : await askScreen(call, rights, venue),
  };
}
