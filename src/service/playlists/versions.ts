import { isDeepStrictEqual } from 'node:util';
import type { AuditVerb } from '../../domain/records/audit.ts';
import { keptVersions, playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import {
  type AuditActor,
  type AuditChange,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';

/** The content of a version. Different content makes the next version (docs/protocol.md §2.3). */
export type PlaylistContent = Pick<Playlist, 'items' | 'validUntil'>;

const pastId = (screenId: string, version: number) => `${screenId}/${version}`;

/** Returns whether a row is active and has exactly this content. */
export function hasSameContent(
  row: Playlist | undefined,
  { items, validUntil }: PlaylistContent,
  nowMs: number,
): row is Playlist {
  if (!row || playlistStatusAt(row, nowMs) !== 'active' || row.validUntil !== validUntil)
    return false;
  return row.items === items || isDeepStrictEqual(JSON.parse(row.items), JSON.parse(items));
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
  { items, validUntil }: PlaylistContent,
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
    items,
    validUntil,
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
