import { randomUUID } from 'node:crypto';
import {
  contentId,
  type PlaylistWithItems,
  playlistContent,
} from '../../../src/domain/playlists/playlist-content.ts';
import type { Screen } from '../../../src/domain/records/rows.ts';
import type { Tx } from '../../../src/store/store.ts';
import { item } from './content.ts';

/** A screen row with random ids. */
export function screenRow(more: Partial<Screen> = {}): Screen {
  const ids = { id: randomUUID(), tenantId: randomUUID(), venueId: randomUUID() };
  return {
    ...ids,
    name: 'Screen',
    hours: null,
    labels: {},
    state: 'active',
    deviceId: null,
    createdAt: 0,
    updatedAt: 0,
    ...more,
  };
}

/** A playlist row of a screen, with its items. */
export function playlistRow(
  screen: Screen,
  { items = JSON.stringify([item()]), ...more }: Partial<PlaylistWithItems> = {},
): PlaylistWithItems {
  const { id, tenantId } = screen;
  return {
    id,
    screenId: id,
    tenantId,
    playlistId: randomUUID(),
    version: 1,
    past: [],
    state: 'active',
    contentId: contentId(tenantId, playlistContent(JSON.parse(items), null)),
    items,
    validUntil: null,
    publishedAt: 0,
    origin: 'published',
    hasMedia: false,
    noneSince: null,
    ...more,
  };
}

/** Stores a playlist row and its items. */
export async function putPlaylist(tx: Tx, row: PlaylistWithItems): Promise<void> {
  const { items, ...playlist } = row;
  const { contentId: id, tenantId } = row;
  await tx.put('contents', { id, tenantId, items });
  await tx.put('playlists', playlist);
}
