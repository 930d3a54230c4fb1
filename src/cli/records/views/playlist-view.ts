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

/** The view of a screen's playlist. Its name is the id of the screen. */
export const playlistView: View<Playlist> = { columns, nameOf: ({ screenId }) => screenId };

/** The view of the versions of a screen's playlist. Their names are the version numbers. */
export const versionView: View<Playlist> = { columns, nameOf: ({ version }) => String(version) };

/** Members with their own columns. The last column shows all other members. */
const ownColumns = ['creativeId', 'creativeUrl', 'creativeType', 'duration', 'campaignId'];

/** The view of playlist items. */
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
        Object.fromEntries(Object.entries(item).filter(([name]) => !ownColumns.includes(name))),
      wide: true,
    },
  ],
  nameOf: ({ creativeId }) => creativeId,
};
