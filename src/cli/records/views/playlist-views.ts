import type { CallAnswer, ListItem } from '../../../client/call.ts';
import type { PlaylistView as Playlist } from '../../../domain/playlists/playlist.ts';
import type { Reader } from '../../api/client.ts';
import { shownEpoch } from '../../options/time.ts';
import type { Column, View } from '../../output/view.ts';
import { members, wideMembers } from '../../output/view.ts';
import { isPrintable } from '../../terminal/escape.ts';
import { venueNames } from '../names.ts';

type Item = Playlist['items'][number];

const columns: readonly Column<Playlist>[] = [
  ...members<Playlist>('version', 'status'),
  { name: 'validUntil', value: ({ validUntil }) => shownEpoch(validUntil) },
  { name: 'items', value: ({ items }) => items.length },
  { name: 'seconds', value: ({ items }) => items.reduce((sum, { duration }) => sum + duration, 0) },
  ...wideMembers<Playlist>('screenId', 'id'),
];

/** The view of a screen's playlist. `-o name` prints the id of the screen. */
export const playlistView: View<Playlist> = { columns, nameOf: ({ screenId }) => screenId };

/** The view of the versions of a screen's playlist. `-o name` prints the version numbers. */
export const versionView: View<Playlist> = { columns, nameOf: ({ version }) => String(version) };

/** Members with their own columns. The last column shows all other members. */
const ownColumns = ['name', 'creativeId', 'creativeUrl', 'creativeType', 'duration', 'campaignId'];

export const itemView: View<Item> = {
  columns: [
    { name: 'name', value: ({ name }) => name },
    ...members<Item>('creativeType', 'duration', 'creativeUrl'),
    ...wideMembers<Item>('creativeId'),
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

export type MirrorCopy = ListItem<'listMirror'>;

/** Returns the view of playlist copies. Fetches the names of the venues. */
export const copiesView = (reader: Reader) => async (): Promise<View<MirrorCopy>> => {
  const names = await venueNames(reader);
  const venueOf = ({ venueId }: MirrorCopy) => names.get(venueId) ?? venueId;
  return {
    columns: [
      { name: 'venue', value: venueOf },
      { name: 'screen', value: ({ screenName }) => screenName },
      ...members<MirrorCopy>('version', 'copiedVersion', 'state', 'queuedAt'),
      ...wideMembers<MirrorCopy>('screenId', 'venueId'),
    ],
    nameOf(copy) {
      const full = `${venueOf(copy)}/${copy.screenName}`;
      return isPrintable(full) ? full : copy.screenId;
    },
  };
};

type Refresh = CallAnswer<'refreshPlaylist'>;
export const refreshView: View<Refresh> = {
  columns: members<Refresh>('version', 'changed'),
  nameOf: ({ version }) => String(version),
};

type Repair = CallAnswer<'repairMirror'>;
export const repairView: View<Repair> = {
  columns: members<Repair>('queued'),
  nameOf: ({ queued }) => String(queued),
};
