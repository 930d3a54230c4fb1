import type { CallAnswer } from '../../../client/call.ts';
import type { MirrorCopy, PlaylistRefresh, Screen } from '../../../client/entities.ts';
import { nameInMediaUrl } from '../../../domain/playlists/media-url.ts';
import type { PlaylistView as Playlist } from '../../../domain/playlists/playlist.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { shownEpoch } from '../../input/time.ts';
import type { Column, View } from '../../output/view.ts';
import { members, wideMembers } from '../../output/view.ts';
import { isPrintable } from '../../terminal/escape.ts';
import type { VenueTimes } from '../../times/venue-times.ts';
import { venueNames } from '../names.ts';

type Item = Playlist['items'][number];

/** `times` formats the end for people. */
const columns = (times?: VenueTimes): readonly Column<Playlist>[] => [
  ...members<Playlist>('version', 'status'),
  {
    name: 'validUntil',
    value: ({ validUntil }) => shownEpoch(validUntil),
    ...(times && {
      shown: ({ validUntil }: Playlist) =>
        validUntil !== null && Number.isSafeInteger(validUntil * 1000)
          ? times.zoned(validUntil * 1000)
          : shownEpoch(validUntil),
    }),
  },
  { name: 'items', value: ({ items }) => items.length },
  { name: 'seconds', value: ({ items }) => items.reduce((sum, { duration }) => sum + duration, 0) },
  ...wideMembers<Playlist>('screenId', 'id'),
];

/** The view of a screen's playlist. `-o name` prints the id of the screen. */
export const playlistView =
  (reader: ServiceReader, { validUntil }: Playlist, { venueId }: Pick<Screen, 'venueId'>) =>
  async (): Promise<View<Playlist>> => {
    const times = validUntil === null ? undefined : await timesOf(reader, venueId);
    return { columns: columns(times), nameOf: ({ screenId }) => screenId };
  };

const maxShownItems = 5;

/** Names the first items: `welcome.png, offer.mp4`. */
function itemsText(items: readonly Item[]): string {
  const names = items.slice(0, maxShownItems).map(itemNameOf);
  const hidden = items.length - names.length;
  return [...names, ...(hidden > 0 ? [`and ${hidden.toLocaleString('en')} more`] : [])].join(', ');
}

function itemNameOf({ name, creativeUrl, creativeId }: Item): string {
  if (typeof name === 'string') return name;
  return URL.canParse(creativeUrl) ? nameInMediaUrl(new URL(creativeUrl)) : creativeId;
}

/** The view of a playlist that was just shown: names its items, and no ids. */
export const shownView: typeof playlistView = (reader, playlist, screen) => async () => {
  const whole = await playlistView(reader, playlist, screen)();
  const shown = ({ items }: Playlist) => itemsText(items);
  return {
    ...whole,
    columns: whole.columns
      .filter(({ wide }) => !wide)
      .map((column) => (column.name === 'items' ? { ...column, shown } : column)),
  };
};

/** The view of the versions of a screen's playlist. `-o name` prints the version numbers. */
export const versionView =
  (reader: ServiceReader, { venueId }: Pick<Screen, 'venueId'>) =>
  async (): Promise<View<Playlist>> => ({
    columns: columns(await timesOf(reader, venueId)),
    nameOf: ({ version }) => String(version),
  });

const timesOf = async (reader: ServiceReader, venueId: string) =>
  (await import('../../times/venue-times.ts')).readVenueTimes(reader, venueId);

/** Members with their own columns. The last column shows all other members. */
const ownColumns = [
  'name',
  'creativeId',
  'creativeUrl',
  'creativeType',
  'duration',
  'campaign',
  'campaignId',
];

export const itemView: View<Item> = {
  columns: [
    { name: 'name', value: ({ name }) => name },
    ...members<Item>('creativeType', 'duration', 'creativeUrl'),
    ...wideMembers<Item>('creativeId'),
    { name: 'campaign', value: ({ campaign }) => campaign, wide: true },
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

/** Returns the view of playlist copies. Fetches the names of the venues. */
export const copiesView = (reader: ServiceReader) => async (): Promise<View<MirrorCopy>> => {
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

export const refreshView: View<PlaylistRefresh> = {
  columns: members<PlaylistRefresh>('version', 'changed'),
  nameOf: ({ version }) => String(version),
};

type Repair = CallAnswer<'repairMirror'>;
export const repairView: View<Repair> = {
  columns: members<Repair>('queued'),
  nameOf: ({ queued }) => String(queued),
};
