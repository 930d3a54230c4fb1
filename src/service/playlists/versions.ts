import { isDeepStrictEqual } from 'node:util';
import { keptVersions, playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import {
  type AuditActor,
  type Change,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';

/** What makes a version: other content is the next one, the same content the same (docs/protocol.md §2.3). */
export type PlaylistContent = Pick<Playlist, 'items' | 'validUntil'>;

const pastId = (screenId: string, version: number) => `${screenId}/${version}`;

/** Whether a row is in force and has this very content: then there is nothing new. */
export function holds(
  row: Playlist | undefined,
  { items, validUntil }: PlaylistContent,
  nowMs: number,
): row is Playlist {
  if (!row || playlistStatusAt(row, nowMs) !== 'active' || row.validUntil !== validUntil)
    return false;
  return row.items === items || isDeepStrictEqual(JSON.parse(row.items), JSON.parse(items));
}

const change = (
  verb: string,
  { screenId, tenantId, version, origin }: Playlist,
  screen: Screen | undefined,
): Change => ({
  action: `playlist.${verb}`,
  subject: { kind: 'screen', id: screenId },
  tenantId,
  venueIds: screen ? [screen.venueId] : [],
  details: { version, ...(origin === 'on-demand' && { origin }) },
});

/** Makes the next version of a screen's playlist; the one before is kept, and of them all the last 20. */
export async function putNextVersion(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  screen: Screen,
  { items, validUntil }: PlaylistContent,
  origin: Playlist['origin'],
): Promise<Playlist> {
  const { id: screenId, tenantId } = screen;
  const before = await tx.get('playlists', screenId);
  const playlistId = before?.playlistId ?? deps.newId();
  const version = (before?.version ?? 0) + 1;
  const made = { id: screenId, screenId, tenantId, playlistId, version, items, validUntil };
  const row: Playlist = { ...made, state: 'active', publishedAt: tx.now, origin };
  await tx.put('playlists', row);
  if (before) {
    const { noneSince: _, ...past } = before;
    const state = playlistStatusAt(before, tx.now) === 'active' ? 'superseded' : before.state;
    await tx.put('pastPlaylists', { ...past, id: pastId(screenId, before.version), state });
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
  const { noneSince: _, ...rest } = row;
  await tx.put('playlists', { ...rest, state: 'withdrawn' });
  await recordChange(deps, tx, by, change('withdraw', row, await tx.get('screens', row.screenId)));
}
