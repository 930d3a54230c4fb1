import type { CallAnswer } from '../../../client/call.ts';
import type { CreatedToken, Token } from '../../../client/entities.ts';
import { dayMs } from '../../../domain/clock.ts';
import type { ServiceReader } from '../../connection/client.ts';
import type { Column, View } from '../../output/view.ts';
import { members, wideMembers } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { span } from '../../terminal/text.ts';
import { orUndefined } from '../find.ts';
import { typedName, venueName, venueNames } from '../names.ts';

/** The limits of a token. */
interface Reach {
  expiresAt: string | null;
  venueIds: readonly string[] | null;
}

/** Tokens that expire within this time are flagged, so that they can be replaced in time. */
const soonMs = 7 * dayMs;

/** Whether a token has expired, or expires soon. */
export function expiresSoon({ expiresAt }: Reach, nowMs: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - nowMs <= soonMs;
}

/** Formats the expiry of a token: `in 30 d`, `in 3 h (soon)`, `expired 2 d ago`. */
function expiryText(reach: Reach, nowMs: number): string {
  if (reach.expiresAt === null) return 'never';
  const remainingMs = Date.parse(reach.expiresAt) - nowMs;
  if (Number.isNaN(remainingMs)) return reach.expiresAt;
  if (remainingMs <= 0) return `expired ${span(remainingMs)} ago`;
  return `in ${span(remainingMs)}${expiresSoon(reach, nowMs) ? ' (soon)' : ''}`;
}

/** Returns the columns for the limits of a token. */
function reachColumns<T extends Reach>(
  venueOf: (id: string) => string,
  nowMs: number,
): Column<T>[] {
  return [
    {
      name: 'venues',
      value: ({ venueIds }) => (venueIds === null ? 'all' : venueIds.map(venueOf).join(', ')),
    },
    { name: 'expires', value: (reach) => expiryText(reach, nowMs) },
  ];
}

/** Looks up venue names. A venue without a name in the map is shown as `<id> (deleted)`. */
export const namesOf = (names: ReadonlyMap<string, string>) => (id: string) =>
  names.get(id) ?? `${id} (deleted)`;

/**
 * Fetches the names of a token's venues. Returns a function that returns the name of a venue by its
 * id.
 */
export async function namesInReach(
  reader: Pick<ServiceReader, 'read'>,
  { venueIds }: Reach,
): Promise<(id: string) => string> {
  const names = new Map<string, string>();
  await Promise.all(
    (venueIds ?? []).map(async (id) => {
      const name = await orUndefined(venueName(reader, id), 'venue_not_found');
      if (name !== undefined) names.set(id, name);
    }),
  );
  return namesOf(names);
}

const wideColumns = <T extends Token>() =>
  wideMembers<T>('id', 'tenantId', 'expiresAt', 'venueIds', 'createdAt');

/** The view of a token, with known names of its venues. */
export function knownTokenView(venueOf: (id: string) => string, nowMs: number): View<Token> {
  return {
    columns: [
      ...members<Token>('name', 'role'),
      ...reachColumns<Token>(venueOf, nowMs),
      ...members<Token>('lastUsedAt'),
      ...wideColumns<Token>(),
    ],
    nameOf: typedName,
  };
}

/** Returns the view of tokens with the names of all venues, which it fetches. */
export const tokensView = (call: CommandContext) => async (): Promise<View<Token>> =>
  knownTokenView(namesOf(await venueNames(call)), call.clock.now());

/** Returns the view of one token. Fetches the names of its venues. */
export const tokenView = (call: CommandContext, token: Token) => async () =>
  knownTokenView(await namesInReach(call, token), call.clock.now());

/**
 * Returns the view of a new token, with its secret. Fetches nothing: a failure would lose the
 * secret, which the service returns only once.
 */
export const createdTokenView = (
  venueOf: (id: string) => string,
  nowMs: number,
): View<CreatedToken> => ({
  columns: [
    ...members<CreatedToken>('name', 'role'),
    ...reachColumns<CreatedToken>(venueOf, nowMs),
    ...members<CreatedToken>('token'),
    ...wideColumns<CreatedToken>(),
  ],
  nameOf: typedName,
});

/** The identity of the token, the service, and the sources of URL and token. */
export interface Identity extends CallAnswer<'getMe'> {
  context: string | null;
  url: string;
  urlSource: string;
  tokenSource: string;
}

/** Returns the view of an identity. Fetches the names of the token's venues. */
export const identityView =
  (reader: Pick<ServiceReader, 'read'>, identity: Identity, nowMs: number) =>
  async (): Promise<View<Identity>> => ({
    columns: [
      ...members<Identity>('name', 'role'),
      { name: 'tenant', value: ({ tenantName }) => tenantName },
      ...reachColumns<Identity>(await namesInReach(reader, identity), nowMs),
      ...wideMembers<Identity>('tenantId'),
      ...members<Identity>('context', 'url', 'urlSource', 'tokenSource'),
      ...wideMembers<Identity>('tokenId', 'expiresAt', 'venueIds'),
    ],
    nameOf: ({ name }) => name,
  });

/** A context without its token. */
export interface ContextRow {
  name: string;
  current: boolean;
  url: string;
  tenantId: string | null;
}

export const contextView: View<ContextRow> = {
  columns: [
    ...members<ContextRow>('name', 'current', 'url'),
    ...wideMembers<ContextRow>('tenantId'),
  ],
  nameOf: ({ name }) => name,
};
