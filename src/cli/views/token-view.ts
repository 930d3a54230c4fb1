import type { CallAnswer } from '../../client/call.ts';
import { member, type View } from '../output/view.ts';
import type { Token } from '../resolve.ts';
import { typedName } from './typed-name.ts';

export const tokenView: View<Token> = {
  columns: [
    member('name'),
    member('role'),
    member('lastUsedAt'),
    member('id', { wide: true }),
    member('tenantId', { wide: true }),
    member('createdAt', { wide: true }),
  ],
  nameOf: typedName,
};

/** A token in the one answer that holds the secret itself. */
export const createdTokenView: View<CallAnswer<'createToken'>> = {
  columns: [
    member('name'),
    member('role'),
    member('token'),
    member('id'),
    member('tenantId', { wide: true }),
    member('createdAt', { wide: true }),
  ],
  nameOf: typedName,
};
