import type { PlaylistView as Playlist } from '../../../domain/records/playlist.ts';
import { shownEpoch } from '../../options/time.ts';
import { type Column, member, type View } from '../../output/view.ts';

type Item = Playlist['items'][number];

const columns: readonly Column<Playlist>[] = [
  member('version'),
  member('status'),
  { name: 'validUntil', value: ({ validUntil }) => shownEpoch(validUntil) },
  { name: 'items', value: ({ items }) => items.length },
  { name: 'seconds', value: ({ items }) => items.reduce((sum, { duration }) => sum + duration, 0) },
  member('screenId', { wide: true }),
  member('id', { wide: true }),
];

/** The playlist of a screen, which is named by the screen. */
export const playlistView: View<Playlist> = { columns, nameOf: ({ screenId }) => screenId };

/** The versions of one screen, which are named by their number. */
export const versionView: View<Playlist> = { columns, nameOf: ({ version }) => String(version) };

/** The columns before the last are what every item has; what else it has stands in the last one. */
const known = ['creativeId', 'creativeUrl', 'creativeType', 'duration', 'campaignId'];

/** What is played, in its order. */
export const itemView: View<Item> = {
  columns: [
    member('creativeType'),
    member('duration'),
    member('creativeUrl'),
    member('creativeId'),
    { name: 'campaignId', value: ({ campaignId }) => campaignId, wide: true },
    {
      name: 'more',
      value: (item) =>
        Object.fromEntries(Object.entries(item).filter(([name]) => !known.includes(name))),
      wide: true,
    },
  ],
  nameOf: ({ creativeId }) => creativeId,
};
