import { member, type View } from '../../output/view.ts';
import type { Tenant } from '../find.ts';
import { typedName } from './typed-name.ts';

export const tenantView: View<Tenant> = {
  columns: [
    member('name'),
    member('id'),
    member('createdAt', { wide: true }),
    member('updatedAt', { wide: true }),
  ],
  nameOf: typedName,
};
