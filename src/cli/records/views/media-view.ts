import type { Media } from '../../../client/entities.ts';
import { members, type View, wideMembers } from '../../output/view.ts';

/** The view of media files. `-o name` prints their ids. */
export const mediaView: View<Media> = {
  columns: [
    ...members<Media>('name', 'type', 'bytes', 'usedBy', 'createdAt'),
    ...wideMembers<Media>('url'),
    { name: 'id', value: ({ id }) => id },
  ],
  nameOf: ({ id }) => id,
};
