import { SignageError } from '../../domain/error.ts';
import { contentId, type PlaylistContent } from '../../domain/playlist-content.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import { keptVersions, playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';
import {
  type AuditActor,
  type AuditChange,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';

const pastId = (screenId: string, version: number) => `${screenId}/${version}`;

/** Returns whether a row is active and has exactly this content. */
export function hasSameContent(
  row: Playlist | undefined,
  content: PlaylistContent,
  nowMs: number,
): row is Playlist {
  return (
    row !== undefined &&
    playlistStatusAt(row, nowMs) === 'active' &&
    row.validUntil === content.validUntil &&
    row.contentId === contentId(row.tenantId, content)
  );
}

/** Returns the items of a version. Throws `store_damaged` if they are lost. */
export async function itemsOf(
  reader: Pick<Reader, 'get'>,
  { contentId }: Playlist,
): Promise<string> {
  const content = await reader.get('contents', contentId);
  if (content) return content.items;
  throw new SignageError(
    'store_damaged',
    'The items of this playlist are not in the store. Publish the playlist again.',
  );
}

/** Stores the items, unless they are stored. Returns the id of their row. */
async function storeItems(tx: Tx, tenantId: string, content: PlaylistContent): Promise<string> {
  const id = contentId(tenantId, content);
  const stored = await tx.get('contents', id);
  if (stored?.unnamedSince !== null)
    await tx.put('contents', { id, tenantId, items: content.items, unnamedSince: null });
  return id;
}

const change = (
  verb: AuditVerb<'playlist'>,
  { screenId, tenantId, version, origin }: Playlist,
  screen: Screen | undefined,
): AuditChange => ({
  action: `playlist.${verb}`,
  subject: { kind: 'screen', id: screenId },
  tenantId,
  venueIds: screen ? [screen.venueId] : [],
  details: { version, ...(origin === 'on-demand' && { origin }) },
});

/** Stores the next version of a screen's playlist. Keeps only the last 20 versions. */
export async function putNextVersion(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  screen: Screen,
  content: PlaylistContent,
  origin: Playlist['origin'],
): Promise<Playlist> {
  const { id: screenId, tenantId } = screen;
  const previous = await tx.get('playlists', screenId);
  const playlistId = previous?.playlistId ?? deps.newId();
  const version = (previous?.version ?? 0) + 1;
  const row: Playlist = {
    id: screenId,
    screenId,
    tenantId,
    playlistId,
    version,
    contentId: await storeItems(tx, tenantId, content),
    validUntil: content.validUntil,
    state: 'active',
    publishedAt: tx.stamp,
    origin,
    noneSince: null,
  };
  await tx.put('playlists', row);
  if (previous) {
    const state = playlistStatusAt(previous, tx.now) === 'active' ? 'superseded' : previous.state;
    await tx.put('pastPlaylists', {
      ...previous,
      id: pastId(screenId, previous.version),
      state,
      noneSince: null,
    });
    await tx.delete('pastPlaylists', pastId(screenId, version - keptVersions));
  }
  await recordChange(deps, tx, by, change('publish', row, screen));
  return row;
}

/** Withdraws a screen's newest version. */
export async function withdrawVersion(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  row: Playlist,
): Promise<void> {
  await tx.put('playlists', { ...row, state: 'withdrawn', noneSince: null });
  await recordChange(deps, tx, by, change('withdraw', row, await tx.get('screens', row.screenId)));
}
