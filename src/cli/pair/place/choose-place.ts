import { hasCode, SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { usage } from '../../options/settings.ts';
import { findScreen, findVenue, type Screen, type Venue } from '../../records/find.ts';
import { isUuid } from '../../records/names.ts';
import { askName, askRecord, type NewRecord, orCreate } from './ask-record.ts';
import { type PairRights, requireCreateRight, venueRights } from './pair-rights.ts';

const maxVenues = 20;
const maxScreens = 50;

/** Finds a venue by id or name. If there is none, returns the venue to create. */
async function venueNamed(
  call: CommandContext,
  anyRights: PairRights,
  name: string,
): Promise<Venue | NewRecord> {
  const rights = venueRights(anyRights);
  try {
    return await findVenue(call, name);
  } catch (error) {
    if (!hasCode(error, 'venue_not_found')) throw error;
    return orCreate(call, rights, name, 'venue', error);
  }
}

/** Asks for a venue. Offers to create one if `rights` allow it. */
export function askVenue(
  call: CommandContext,
  anyRights: PairRights | undefined,
): Promise<Venue | NewRecord> {
  const rights = venueRights(anyRights);
  return askRecord<Venue>(call, {
    kind: 'venue',
    async list({ search }, signal) {
      const query = { limit: maxVenues, ...(search !== undefined && { search }) };
      return (await call.read('listVenues', { query, signal })).items;
    },
    shown: ({ name, address }) => ({ name, ...(address && { description: address }) }),
    mayCreate: rights?.mayCreate === true,
    requireFirstRight() {
      if (rights) return requireCreateRight(rights, 'venues, and there are none yet');
      const hint = 'signage venue create --name …';
      throw new SignageError('venue_not_found', 'There is no venue yet.', { hint });
    },
  });
}

/** Finds a screen of the venue by id or name. If there is none, returns the screen to create. */
async function screenNamed(
  call: CommandContext,
  rights: PairRights,
  venue: Venue | NewRecord,
  name: string,
): Promise<Screen | NewRecord> {
  if (isUuid(name)) {
    const screen = await findScreen(call, name);
    if (screen.venueId === venue.id) return screen;
    throw usage(`The screen ${name} is not in the venue "${venue.name}".`);
  }
  // A new venue has no screens, so the screen is new too.
  if (venue.id === undefined) return { name: name.trim() };
  const { items } = await call.read('listScreens', { query: { venueId: venue.id, name } });
  if (items[0]) return items[0];
  const missing = new SignageError(
    'screen_not_found',
    `There is no screen "${name}" in the venue "${venue.name}".`,
  );
  return orCreate(call, rights, name, 'screen', missing);
}

/**
 * Asks for a screen of the venue, or for the name of a new one. Lists screens without a TV first.
 */
async function askScreen(
  call: CommandContext,
  rights: PairRights,
  { id: venueId, name: venueName }: Venue | NewRecord,
): Promise<Screen | NewRecord> {
  if (venueId === undefined)
    return askName(call, `Name of the screen in "${venueName}":`, '--screen');
  return askRecord<Screen>(call, {
    kind: 'screen',
    async list({ search }, signal) {
      const query = { venueId, limit: maxScreens, ...(search !== undefined && { search }) };
      const { items } = await call.read('listScreens', { query, signal });
      return items.toSorted((a, b) => Number(a.state === 'active') - Number(b.state === 'active'));
    },
    shown: ({ name, state }) => ({ name: state === 'active' ? `${name} (has a TV)` : name }),
    mayCreate: rights.mayCreate,
    requireFirstRight: () => requireCreateRight(rights, `screens, and "${venueName}" has none yet`),
  });
}

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
