import type { CallAnswer } from '../../../client/call.ts';
import type { Reader } from '../../api/client.ts';
import { member, type View } from '../../output/view.ts';
import { reachColumns, venueNames } from './reach-columns.ts';

/** The identity of the token, the service, and the sources of both. */
export interface Identity extends CallAnswer<'getMe'> {
  context: string | null;
  url: string;
  urlSource: string;
  tokenSource: string;
}

/** The view of an identity. Fetches the names of the token's venues. */
export const identityView =
  (reader: Pick<Reader, 'read'>, identity: Identity, nowMs: number) =>
  async (): Promise<View<Identity>> => ({
    columns: [
      member('name'),
      member('role'),
      { name: 'tenant', value: ({ tenantName }) => tenantName },
      ...reachColumns<Identity>(await venueNames(reader, identity), nowMs),
      member('tenantId', { wide: true }),
      member('context'),
      member('url'),
      member('urlSource'),
      member('tokenSource'),
      member('tokenId', { wide: true }),
      member('expiresAt', { wide: true }),
      member('venueIds', { wide: true }),
    ],
    nameOf: ({ name }) => name,
  });
