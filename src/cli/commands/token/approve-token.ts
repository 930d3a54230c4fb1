import type { CallAnswer, CallInput } from '../../../client/call.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { readCode } from '../../input/pairing-code.ts';
import type { CommandContext } from '../../program/context.ts';
import { knownTokenView, namesOf } from '../../records/views/access-views.ts';
import { span } from '../../terminal/text.ts';

interface Approval extends Omit<CallInput<'approveLogin'>['body'], 'name' | 'venueIds'> {
  name: string | undefined;
  /** Names of the venues by their ids. Empty: all venues. */
  venues: ReadonlyMap<string, string>;
}

/**
 * Shows what an asker says of itself, and gives it a token after a question. Returns the token
 * without its secret. `undefined`: nothing was done, because of `--dry-run`.
 */
export async function approveToken(
  call: CommandContext,
  typed: string,
  { name, role, expiresAt, venues }: Approval,
): Promise<CallAnswer<'approveLogin'> | undefined> {
  const code = readCode(typed, 'The code of a login');
  const asker = await call.read('getLogin', { params: { code } });
  const [user, host] = [asker.user, asker.host].map((text) => JSON.stringify(text));
  const agoMs = call.clock.now() - Date.parse(asker.createdAt);
  call.note(`Says it is: user ${user} on host ${host}. Nobody has checked that.`);
  call.note(`Seen: address ${asker.address ?? 'unknown'}, asked ${span(agoMs)} ago.`);
  const names = [...venues.values()].map((venue) => JSON.stringify(venue)).join(', ');
  const reach = names === '' ? 'for all venues' : `for ${names} only`;
  await call.confirmDestruction(
    `Did this person read ${groupedCode(code)} out to you? Give a token with the role ${role} ${reach} until ${expiresAt}?`,
  );
  const ofAsker = `${asker.user}@${asker.host} (${groupedCode(code)})`.replaceAll('/', '-');
  const reachOf = venues.size > 0 ? { venueIds: [...venues.keys()] } : { allVenues: true as const };
  const body = { name: name ?? ofAsker, role, expiresAt, ...reachOf };
  const made = await call.change('approveLogin', { params: { code }, body });
  if (!made) return undefined;
  await call.results.record(made.answer, knownTokenView(namesOf(venues), call.clock.now()));
  call.note('Only the asker can read the token.');
  return made.answer;
}
