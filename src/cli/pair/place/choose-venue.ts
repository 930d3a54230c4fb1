import { hasCode, SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { findVenue, type Venue } from '../../records/find.ts';
import { isUuid } from '../../records/uuid.ts';
import { escapeControl } from '../../terminal/escape.ts';
import { askName, type CreateOffer, type NewRecord, offerToCreate } from './ask-name.ts';
import { type PairRights, requireCreateRight, venueRights } from './pair-rights.ts';

const maxChoices = 20;
const flag = '--venue';

/**
 * Returns the record to create under a missing name, if `--create` or the person at the terminal
 * allows it. Otherwise throws `error` with a hint.
 */
export async function orCreate(
  call: CommandContext,
  rights: PairRights,
  name: string,
  kind: string,
  error: unknown,
): Promise<NewRecord> {
  if (!(error instanceof SignageError)) throw error;
  if (isUuid(name)) throw error;
  if (!call.options.create && !call.prompter.canAsk) {
    if (rights.mayCreate)
      throw new SignageError(error.code, error.message, { hint: 'To create it: --create' });
    throw error;
  }
  requireCreateRight(rights, `the missing ${kind} "${name}"`);
  const question = `There is no ${kind} "${name}". Create it?`;
  if (
    call.options.create ||
    (await call.prompter.confirm({
      message: escapeControl(question),
      flag: '--create',
      initial: true,
    }))
  )
    return { name: name.trim() };
  throw new SignageError('declined', 'Nothing was changed.');
}

/** Finds a venue by id or name, or returns the one to create. */
export async function venueNamed(
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

async function someVenues(
  call: CommandContext,
  term: string,
  signal: AbortSignal,
): Promise<Venue[]> {
  const search = term.trim();
  const query = { limit: maxChoices, ...(search !== '' && { search }) };
  return (
    await call.read('listVenues', { query, signal: AbortSignal.any([signal, call.interrupted]) })
  ).items;
}

/** Asks for a venue. Offers to create one if `rights` allow it. */
export async function askVenue(
  call: CommandContext,
  anyRights: PairRights | undefined,
): Promise<Venue | NewRecord> {
  const rights = venueRights(anyRights);
  if (call.prompter.canAsk && (await someVenues(call, '', call.interrupted)).length === 0) {
    if (!rights)
      throw new SignageError('venue_not_found', 'There is no venue yet.', {
        hint: 'signage venue create --name …',
      });
    requireCreateRight(rights, 'venues, and there are none yet');
    return askName(call, 'There is no venue yet. Name of the first venue:', flag);
  }
  const find = async (term: string, signal: AbortSignal) => {
    const venues = await someVenues(call, term, signal);
    const there = venues.map((venue) => ({
      value: venue,
      name: venue.name,
      ...(venue.address && { description: venue.address }),
    }));
    return rights?.mayCreate ? [...there, ...offerToCreate('venue', term, venues)] : there;
  };
  const chosen = await call.prompter.search<Venue | CreateOffer>({ message: 'Venue', flag, find });
  if (chosen.name === undefined) return askName(call, 'Name of the new venue:', flag);
  return chosen as Venue | NewRecord;
}
