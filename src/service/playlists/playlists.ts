import { invalid, SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import { epochMs } from '../../domain/fields.ts';
import { PageItems } from '../../domain/page-items.ts';
import type { Page } from '../../domain/paging.ts';
import {
  type PlaylistView,
  type Publication,
  type PublishedPlaylist,
  playlistStatusAt,
} from '../../domain/playlists/playlist.ts';
import { publishedContent } from '../../domain/playlists/playlist-content.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import type { Principal, ServiceDependencies } from '../context.ts';
import { lookUp } from '../lookup.ts';
import { requireMedia } from '../media/media-uses.ts';
import { badCursor } from '../paging.ts';
import { isBasePlaying } from '../schedules/delivered-now.ts';
import { layersId } from '../schedules/layers.ts';
import type { PlaylistQuota } from '../versions/playlist-quota.ts';
import {
  adopt,
  hasSameContent,
  itemsOf,
  putNextVersion,
  storeItems,
  versionContent,
  withdrawVersion,
} from '../versions/versions.ts';

/** Parses the cursor, which is a version. The page contains only older versions. */
function playlistView(row: Playlist, items: string, nowMs: number): PlaylistView {
  return {
    id: row.playlistId,
    tenantId: row.tenantId,
    screenId: row.screenId,
    status: playlistStatusAt(row, nowMs),
    version: row.version,
    validUntil: row.validUntil === null ? null : Math.floor(row.validUntil / 1000),
    items: JSON.parse(items),
  };
}

function belowVersion(cursor: string | undefined): number {
  if (cursor === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d*$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

/** Returns the ETag of a screen's playlist, or `undefined` if the screen has no playlist. */
function revisionOf(row: Playlist | undefined): string | undefined {
  return row && row.state !== 'withdrawn' ? revision.playlist(row) : undefined;
}

/** A playlist and its revision (docs/protocol.md §5.10). */
export interface RevisedPlaylist<P extends PlaylistView = PlaylistView> {
  playlist: P;
  etag: string;
}

function revised(row: Playlist, items: string, nowMs: number): RevisedPlaylist {
  return { playlist: playlistView(row, items, nowMs), etag: revision.playlist(row) };
}

/** Playlist management (docs/protocol.md §5.4). */
export function makePlaylists(deps: ServiceDependencies, quota: PlaylistQuota) {
  const { store, clock } = deps;

  /**
   * Publishes a playlist. Publishing the content of the active version again creates no new
   * version. Throws `invalid_request` unless `validUntil` is in the future.
   */
  async function publish(
    principal: Principal,
    screenId: string,
    { items, validUntil }: Publication,
    precondition: Precondition = {},
  ): Promise<RevisedPlaylist<PublishedPlaylist>> {
    const until = validUntil == null ? null : epochMs(validUntil);
    const publishOnce = async (tx: Tx) => {
      const screen = await lookUp(tx, principal, 'screen', screenId);
      if (until !== null && until <= tx.now)
        throw invalid([{ path: '/validUntil', message: 'must be in the future' }]);
      const content = publishedContent(screen.tenantId, items, until);
      const before = await tx.get('playlists', screen.id);
      checkPrecondition(precondition, revisionOf(before));
      await requireMedia(tx, principal, content.mediaIds);
      const row = hasSameContent(before, versionContent(screen.tenantId, content), tx.now)
        ? await adopt(tx, before)
        : await putNextVersion(deps, tx, principal, {
            screen,
            previous: before,
            layers: await tx.get('layers', layersId('screen', screen.id)),
            noted: await tx.get('screenContents', screen.id),
            content: await storeItems(tx, screen.tenantId, content, quota),
            origin: 'published',
          });
      return { screen, ...revised(row, content.items, tx.now) };
    };
    const stored = await quota.run(() => deps.write(principal, publishOnce));
    const { screen, playlist, etag } = stored;
    const playing = await isBasePlaying(store.read, screen, store.now());
    return { playlist: { ...playlist, playing }, etag };
  }

  /** Returns the playlist of a screen. Throws `playlist_not_found`. */
  async function get(principal: Principal, screenId: string): Promise<RevisedPlaylist> {
    const screen = await lookUp(store.read, principal, 'screen', screenId);
    const row = await store.read.get('playlists', screen.id);
    if (!row || row.state === 'withdrawn')
      throw new SignageError('playlist_not_found', 'This screen has no playlist: publish one.');
    return revised(row, await itemsOf(store.read, row), clock.now());
  }

  async function withdraw(
    principal: Principal,
    screenId: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const screen = await lookUp(tx, principal, 'screen', screenId);
      const row = await tx.get('playlists', screen.id);
      checkPrecondition(precondition, revisionOf(row));
      if (!row || row.state === 'withdrawn') return;
      await withdrawVersion(deps, tx, principal, screen, row);
    });
  }

  /** Returns the kept versions, newest first. The cursor is the last version on the page. */
  async function versions(
    principal: Principal,
    screenId: string,
    query: { limit: number; cursor?: string | undefined },
  ): Promise<Page<PlaylistView>> {
    const screen = await lookUp(store.read, principal, 'screen', screenId);
    const newest = await store.read.get('playlists', screen.id);
    const below = belowVersion(query.cursor);
    if (!newest) return { items: [], nextCursor: null };
    const past = await store.pastPlaylists({
      screenId: screen.id,
      below: Math.min(below, newest.version),
      limit: query.limit,
    });
    const page = new PageItems<PlaylistView>(query.limit);
    for (const row of newest.version < below ? [newest, ...past.items] : past.items) {
      const items = await itemsOf(store.read, row);
      if (!page.add(playlistView(row, items, clock.now()), Buffer.byteLength(items)))
        return { items: page.items, nextCursor: String(page.items.at(-1)?.version) };
    }
    return { items: page.items, nextCursor: past.next };
  }

  return { publish, get, withdraw, versions };
}
