import { member, type View } from '../../output/view.ts';
import type { Venue } from '../find.ts';
import { typedName } from './typed-name.ts';

export const venueView: View<Venue> = {
  columns: [
    member('name'),
    member('address'),
    member('timezone'),
    member('labels'),
    member('id', { wide: true }),
    member('createdAt', { wide: true }),
    member('updatedAt', { wide: true }),
  ],
  nameOf: typedName,
};
