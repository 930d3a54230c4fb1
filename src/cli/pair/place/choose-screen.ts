import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { usage } from '../../options/settings.ts';
import { findScreen, type Screen, type Venue } from '../../records/find.ts';
import { isUuid } from '../../records/uuid.ts';
import { askName, type Offer, offerToMake, type ToMake } from './ask-name.ts';
import { orMake } from './choose-venue.ts';
import { type PairRights, requireMaking } from './pair-rights.ts';

const mostChoices = 50;
const flag = '--screen';

/** The screen of that id or name in the venue, or the one to make. */
export async function screenNamed(
  call: CommandContext,
  rights: PairRights,
  venue: Venue | ToMake,
  name: string,
): Promise<Screen | ToMake> {
  if (isUuid(name)) {
    const screen = await findScreen(call, name);
    if (screen.venueId === venue.id) return screen;
    throw usage(`The screen ${name} is not in the venue "${venue.name}".`);
  }
  // Who agreed to a new venue wants its screen too.
  if (venue.id === undefined) return { name: name.trim() };
  const { items } = await call.read('listScreens', { query: { venueId: venue.id, name } });
  if (items[0]) return items[0];
  const missing = new SignageError(
    'screen_not_found',
    `There is no screen "${name}" in the venue "${venue.name}".`,
  );
  return orMake(call, rights, name, 'screen', missing);
}

async function someScreens(
  call: CommandContext,
  venueId: string,
  term: string,
  signal: AbortSignal,
): Promise<Screen[]> {
  const search = term.trim();
  const query = { venueId, limit: mostChoices, ...(search !== '' && { search }) };
  const { items } = await call.read('listScreens', {
    query,
    signal: AbortSignal.any([signal, call.interrupted]),
  });
  return items.toSorted((a, b) => Number(a.state === 'active') - Number(b.state === 'active'));
}

/** Lets the person at the terminal choose a screen of the venue, or a name for a new one. Those that wait for a TV come first. */
export async function askScreen(
  call: CommandContext,
  rights: PairRights,
  venue: Venue | ToMake,
): Promise<Screen | ToMake> {
  const { id: venueId } = venue;
  if (venueId === undefined)
    return askName(call, `What is the screen in "${venue.name}" called?`, flag);
  if (
    call.prompter.canAsk &&
    (await someScreens(call, venueId, '', call.interrupted)).length === 0
  ) {
    requireMaking(rights, `screens, and there is none in "${venue.name}" yet`);
    return askName(call, 'There is no screen yet. What is the first one called?', flag);
  }
  const find = async (term: string, signal: AbortSignal) => {
    const screens = await someScreens(call, venueId, term, signal);
    const there = screens.map((screen) => ({
      value: screen,
      name: screen.state === 'active' ? `${screen.name} (has a TV)` : screen.name,
    }));
    return rights.mayMake ? [...there, ...offerToMake('screen', term, screens)] : there;
  };
  const chosen = await call.prompter.search<Screen | Offer>({ message: 'Screen', flag, find });
  if (chosen.name === undefined) return askName(call, 'What is the new screen called?', flag);
  return chosen as Screen | ToMake;
}
