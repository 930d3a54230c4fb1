import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { usage } from '../../options/settings.ts';
import { findScreen, type Screen, type Venue } from '../../records/find.ts';
import { isUuid } from '../../records/uuid.ts';
import { askName, type CreateOffer, type NewRecord, offerToCreate } from './ask-name.ts';
import { orCreate } from './choose-venue.ts';
import { type PairRights, requireCreateRight } from './pair-rights.ts';

const maxChoices = 50;
const flag = '--screen';

/** Finds a screen of the venue by id or name, or returns the one to create. */
export async function screenNamed(
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

async function someScreens(
  call: CommandContext,
  venueId: string,
  term: string,
  signal: AbortSignal,
): Promise<Screen[]> {
  const search = term.trim();
  const query = { venueId, limit: maxChoices, ...(search !== '' && { search }) };
  const { items } = await call.read('listScreens', {
    query,
    signal: AbortSignal.any([signal, call.interrupted]),
  });
  return items.toSorted((a, b) => Number(a.state === 'active') - Number(b.state === 'active'));
}

/**
 * Asks for a screen of the venue, or for the name of a new one. Lists screens without a TV first.
 */
export async function askScreen(
  call: CommandContext,
  rights: PairRights,
  venue: Venue | NewRecord,
): Promise<Screen | NewRecord> {
  const { id: venueId } = venue;
  if (venueId === undefined) return askName(call, `Name of the screen in "${venue.name}":`, flag);
  if (
    call.prompter.canAsk &&
    (await someScreens(call, venueId, '', call.interrupted)).length === 0
  ) {
    requireCreateRight(rights, `screens, and "${venue.name}" has none yet`);
    return askName(call, 'There is no screen yet. Name of the first screen:', flag);
  }
  const find = async (term: string, signal: AbortSignal) => {
    const screens = await someScreens(call, venueId, term, signal);
    const there = screens.map((screen) => ({
      value: screen,
      name: screen.state === 'active' ? `${screen.name} (has a TV)` : screen.name,
    }));
    return rights.mayCreate ? [...there, ...offerToCreate('screen', term, screens)] : there;
  };
  const chosen = await call.prompter.search<Screen | CreateOffer>({
    message: 'Screen',
    flag,
    find,
  });
  if (chosen.name === undefined) return askName(call, 'Name of the new screen:', flag);
  return chosen as Screen | NewRecord;
}
