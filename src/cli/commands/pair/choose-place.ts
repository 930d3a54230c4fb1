import type { Screen, Venue } from '../../../client/entities.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { isGuid } from '../../../domain/id.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { findScreen, findVenue } from '../../records/find.ts';
import { typedName } from '../../records/names.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Choice } from '../../terminal/prompter.ts';
import { countText, shellQuote } from '../../terminal/text.ts';
import { type PairRights, requireCreateRight, venueRights } from './pair-rights.ts';

/** A venue or screen that does not exist yet and will be created. */
interface NewRecord {
  id?: undefined;
  name: string;
}

const maxNameLength = 200;

/**
 * Returns the reason to reject a name, by the main rules of docs/protocol.md §5.1. The service
 * checks all rules.
 */
function nameProblem(text: string): string | undefined {
  const name = text.trim();
  if (name === '') return 'Type a name.';
  if ([...name].length > maxNameLength) return `Use at most ${maxNameLength} characters.`;
  return name.includes('/') ? 'Do not use "/": it separates the venue from the screen.' : undefined;
}

async function askName(
  { prompter }: CommandContext,
  message: string,
  flag: string,
): Promise<NewRecord> {
  const name = await prompter.input({
    message: escapeControl(message),
    flag,
    check: nameProblem,
  });
  return { name: name.trim() };
}

/** List entry that creates a record. Without a name, the next question asks for the name. */
type CreateOffer = { id?: undefined; name: string | undefined };

/** Offers to create a record with the typed name, if the name is valid and not taken. */
function offerToCreate(
  kind: string,
  term: string,
  there: readonly { name: string }[],
): Choice<CreateOffer>[] {
  const name = term.trim();
  if (name === '') return [{ value: { name: undefined }, name: `+ New ${kind} …` }];
  const isThere = there.some((one) => one.name.toLowerCase() === name.toLowerCase());
  return isThere || nameProblem(name) !== undefined
    ? []
    : [{ value: { name }, name: `+ New ${kind} "${name}"` }];
}

/** The records to choose from: venues, or the screens of a venue. */
interface Choices<T> {
  kind: 'venue' | 'screen';
  list(query: { search?: string }, signal: AbortSignal): Promise<T[]>;
  shown(record: T): Omit<Choice<T>, 'value'>;
  mayCreate: boolean;
  /** Maximum length of the list. */
  limit: number;
  /** Called when the list is empty. Throws if the token may not create a record. */
  requireFirstRight(): void;
}

/** Asks for a record, or for the name of a new record. */
async function askRecord<T extends { name: string }>(
  call: CommandContext,
  { kind, list, shown, mayCreate, limit, requireFirstRight }: Choices<T>,
): Promise<T | NewRecord> {
  const flag = kind === 'venue' ? '--venue' : 'VENUE/SCREEN';
  if (call.prompter.canAsk && (await list({}, call.interrupted)).length === 0) {
    requireFirstRight();
    return askName(call, `There is no ${kind} yet. Name of the first ${kind}:`, flag);
  }
  let count: number | undefined;
  const find = async (term: string, signal: AbortSignal) => {
    const search = term.trim();
    const records = await list(
      search === '' ? {} : { search },
      AbortSignal.any([signal, call.interrupted]),
    );
    count = records.length;
    const there = records.map((value) => ({ value, ...shown(value) }));
    return mayCreate ? [...there, ...offerToCreate(kind, term, records)] : there;
  };
  const message = kind === 'venue' ? 'Venue' : 'Screen';
  const tip = () => {
    const keys = mayCreate ? 'Type to filter or to make a new one' : 'Type to filter';
    if (count === undefined) return keys;
    return `${keys} · ${count < limit ? '' : 'the first '}${countText(count, kind)}`;
  };
  const chosen = await call.prompter.search<T | CreateOffer>({ message, flag, find, tip });
  if (chosen.name === undefined) return askName(call, `Name of the new ${kind}:`, flag);
  return chosen as T | NewRecord;
}

const maxVenues = 20;
const maxScreens = 50;
/**
 * Handles a name that does not exist: `--create` creates the record, and at a terminal the command
 * asks whether to.
 */
async function createMissing(
  { options, prompter, note }: CommandContext,
  rights: PairRights,
  { kind, name }: { kind: 'venue' | 'screen'; name: string },
  error: SignageError,
): Promise<NewRecord> {
  const { hint = '' } = error;
  if (!options.create) {
    if (!rights.mayCreate) throw error;
    if (!prompter.canAsk)
      throw new SignageError(error.code, error.message, { hint: `${hint} To create it: --create` });
    note(hint);
    const initial = !hint.startsWith('Did you mean');
    const message = `${error.message} Create it?`;
    if (!(await prompter.confirm({ message, flag: '--create', initial })))
      throw new SignageError('declined', 'Nothing was changed.');
  }
  requireCreateRight(rights, `the missing ${kind} "${name}"`);
  return { name: name.trim() };
}

async function venueNamed(
  call: CommandContext,
  rights: PairRights,
  name: string,
): Promise<Venue | NewRecord> {
  try {
    return await findVenue(call, name);
  } catch (error) {
    if (!hasCode(error, 'venue_not_found') || isGuid(name)) throw error;
    return createMissing(call, venueRights(rights), { kind: 'venue', name }, error);
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
    limit: maxVenues,
    requireFirstRight() {
      if (rights) return requireCreateRight(rights, 'venues, and there are none yet');
      const hint = 'signage venue create --name …';
      throw new SignageError('venue_not_found', 'There is no venue yet.', { hint });
    },
  });
}

/** Finds a screen of the venue by its name, or by an id of a screen in that venue. */
async function screenNamed(
  call: CommandContext,
  rights: PairRights,
  venue: Venue | NewRecord,
  name: string,
): Promise<Screen | NewRecord> {
  // A new venue has no screens, so the screen is new too.
  if (venue.id === undefined) return { name: name.trim() };
  try {
    return await findScreen(call, `${typedName(venue)}/${name}`);
  } catch (error) {
    if (!hasCode(error, 'screen_not_found')) throw error;
    return createMissing(call, rights, { kind: 'screen', name }, error);
  }
}

/**
 * Asks for a screen of the venue, or for the name of a new screen. Lists screens without a TV
 * first.
 */
async function askScreen(
  call: CommandContext,
  rights: PairRights,
  { id: venueId, name: venueName }: Venue | NewRecord,
): Promise<Screen | NewRecord> {
  if (venueId === undefined)
    return askName(call, `Name of the screen in "${venueName}":`, 'VENUE/SCREEN');
  return askRecord<Screen>(call, {
    kind: 'screen',
    async list({ search }, signal) {
      const query = { venueId, limit: maxScreens, ...(search !== undefined && { search }) };
      const { items } = await call.read('listScreens', { query, signal });
      return items.toSorted((a, b) => Number(a.state === 'active') - Number(b.state === 'active'));
    },
    shown: ({ name, state }) => ({ name: state === 'active' ? `${name} (has a TV)` : name }),
    mayCreate: rights.mayCreate,
    limit: maxScreens,
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

/** Reads the place from the command line: `Lobby/Main`, an id, or `--venue`. */
function namedPlace({ args, options }: CommandContext): Named {
  const given: string | undefined = args.screen;
  if (given === undefined) return { venue: options.venue, screen: undefined };
  if (options.venue !== undefined)
    throw usage('Name the screen as VENUE/SCREEN, or only the venue with --venue.');
  const slash = given.indexOf('/');
  if (slash < 0) return { venue: undefined, screen: given };
  return { venue: given.slice(0, slash), screen: given.slice(slash + 1) };
}

/** Returns the venue with this name. A person may type a venue where a screen is expected. */
async function venueOfName(call: CommandContext, name: string): Promise<Venue | undefined> {
  return (await call.read('listVenues', { query: { name } })).items[0];
}

/**
 * Handles an unknown screen name that was given without a venue. The name may be mistyped, or
 * belong to a venue. With `--create`, asks for the venue of the new screen.
 */
async function screenMissing(
  call: CommandContext,
  rights: PairRights,
  name: string,
  error: SignageError,
): Promise<ChosenPlace> {
  if (call.options.create) {
    const venue = await askVenue(call, rights);
    return { venue, screen: await screenNamed(call, rights, venue, name) };
  }
  const venue = await venueOfName(call, name);
  if (venue && call.prompter.canAsk) return { venue, screen: await askScreen(call, rights, venue) };
  if (venue) {
    throw new SignageError(error.code, `"${name}" is a venue, not a screen.`, {
      hint: `Name the screen, too: signage pair ${shellQuote(`${name}/…`)}. For all of them: signage pair --venue ${shellQuote(name)} --all`,
    });
  }
  throw error;
}

/** Finds a screen named without its venue. */
async function screenAnywhere(
  call: CommandContext,
  rights: PairRights,
  name: string,
): Promise<ChosenPlace> {
  try {
    const screen = await findScreen(call, name);
    return { venue: await call.read('getVenue', { params: { id: screen.venueId } }), screen };
  } catch (error) {
    if (!hasCode(error, 'screen_not_found') || isGuid(name)) throw error;
    return screenMissing(call, rights, name, error);
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
