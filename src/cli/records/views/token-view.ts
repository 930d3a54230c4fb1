import type { CallAnswer } from '../../../client/call.ts';
import type { CommandContext } from '../../command/context.ts';
import { type Column, member, type View } from '../../output/view.ts';
import type { Token } from '../find.ts';
import { namesOf, reachColumns, venueNames } from './reach-columns.ts';
import { typedName } from './typed-name.ts';

const members = <T extends Token>(): Column<T>[] => [
  member('id', { wide: true }),
  member('tenantId', { wide: true }),
  member('expiresAt', { wide: true }),
  member('venueIds', { wide: true }),
  member('createdAt', { wide: true }),
];

/** The view of a token, with known names of its venues. */
export function knownTokenView(venueName: (id: string) => string, nowMs: number): View<Token> {
  return {
    columns: [
      member('name'),
      member('role'),
      ...reachColumns<Token>(venueName, nowMs),
      member('lastUsedAt'),
      ...members<Token>(),
    ],
    nameOf: typedName,
  };
}

/** The view of tokens. Fetches the names of all venues. */
export const tokensView = (call: CommandContext) => async (): Promise<View<Token>> => {
  const names = new Map((await call.all('listVenues')).map(({ id, name }) => [id, name]));
  return knownTokenView(namesOf(names), call.clock.now());
};

/** The view of one token. Fetches the names of its venues. */
export const tokenView = (call: CommandContext, token: Token) => async () =>
  knownTokenView(await venueNames(call, token), call.clock.now());

type CreatedToken = CallAnswer<'createToken'>;

/**
 * The view of a new token, with its secret. Fetches nothing: a failure would lose the secret, which
 * the service returns only once.
 */
export const createdTokenView = (
  venueName: (id: string) => string,
  nowMs: number,
): View<CreatedToken> => ({
  columns: [
    member('name'),
    member('role'),
    ...reachColumns<CreatedToken>(venueName, nowMs),
    member('token'),
    ...members<CreatedToken>(),
  ],
  nameOf: typedName,
});
