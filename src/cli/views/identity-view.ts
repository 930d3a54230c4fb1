import type { CallAnswer } from '../../client/call.ts';
import { member, type View } from '../output/view.ts';

/** Whose token is used where, and where both come from. */
export interface Identity extends CallAnswer<'getMe'> {
  context: string | null;
  url: string;
  urlSource: string;
  tokenSource: string;
}

export const identityView: View<Identity> = {
  columns: [
    member('name'),
    member('role'),
    { name: 'tenant', value: ({ tenantName }) => tenantName },
    member('tenantId', { wide: true }),
    member('context'),
    member('url'),
    member('urlSource'),
    member('tokenSource'),
    member('tokenId', { wide: true }),
  ],
  nameOf: ({ name }) => name,
};
