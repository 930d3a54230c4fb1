import { isDeepStrictEqual } from 'node:util';
import { invalid, SignageError } from '../domain/error.ts';
import type { Page } from '../domain/list.ts';
import { keptVersions, type PlaylistView, type Publication, playlistStatusAt } from '../domain/playlist.ts';
import type { Playlist, Screen } from '../domain/records.ts';
import { epochMs } from '../domain/scalars.ts';
import type { Tx } from '../store/store.ts';
import { type Caller, type Kit, recordChange } from './context.ts';
import { lookUp } from './lookup.ts';
import { badCursor } from './paging.ts';
import { playlistView } from './views.ts';

const pastId = (screenId: string, version: number) => `${screenId}/${version}`;

/** Makes `row` the screen's newest version; the one before is kept, and of them all the last 20. */
async function putVersion(tx: Tx, row: Playlist, before: Playlist | undefined): Promise<void> {
  await tx.put('playlists', row);
  if (!before) return;
  const state = playlistStatusAt(before, tx.now) === 'active' ? 'superseded' : before.state;
  await tx.put('pastPlaylists', { ...before, id: pastId(before.screenId, before.version), state });
  await tx.delete('pastPlaylists', pastId(row.screenId, row.version - keptVersions));
}

/** The version below which a page begins. */
function belowVersion(cursor: string | undefined): number {
  if (cursor === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d*$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

/** Playlists as managers keep them (docs/protocol.md §5.4). */
export function makePlaylists(kit: Kit) {
  const { store, clock } = kit;
  const change = (verb: string, row: Playlist) => ({
    action: `playlist.${verb}`,
    subject: { kind: 'screen', id: row.screenId },
    tenantId: row.tenantId,
    details: { version: row.version },
  });

  function nextVersion(
    screen: Screen,
    before: Playlist | undefined,
    content: Pick<Playlist, 'items' | 'validUntil'>,
    nowMs: number,
  ): Playlist {
    const { id: screenId, tenantId } = screen;
    const playlistId = before?.playlistId ?? kit.newId();
    const version = (before?.version ?? 0) + 1;
    return { id: screenId, screenId, tenantId, playlistId, version, state: 'active', ...content, publishedAt: nowMs, origin: 'published' };
  }

  /** The same content again changes nothing. A `validUntil` that is not in the future is `invalid_request`. */
  async function publish(caller: Caller, screenId: string, { items, validUntil }: Publication): Promise<PlaylistView> {
    const until = validUntil == null ? null : epochMs(validUntil);
    return store.write(async (tx) => {
      const screen = await lookUp(tx, caller, 'screen', screenId);
      if (until !== null && until <= tx.now) throw invalid([{ path: '/validUntil', message: 'must be in the future' }]);
      const before = await tx.get('playlists', screen.id);
      const stands = before !== undefined && playlistStatusAt(before, tx.now) === 'active' && before.validUntil === until;
      if (stands && isDeepStrictEqual(JSON.parse(before.items), items)) return playlistView(before, tx.now);
      const row = nextVersion(screen, before, { items: JSON.stringify(items), validUntil: until }, tx.now);
      await putVersion(tx, row, before);
      await recordChange(kit, tx, caller, change('publish', row));
      return playlistView(row, tx.now);
    });
  }

  /** Throws `playlist_not_found`. */
  async function get(caller: Caller, screenId: string): Promise<PlaylistView> {
    const screen = await lookUp(store.read, caller, 'screen', screenId);
    const row = await store.read.get('playlists', screen.id);
    if (!row || row.state === 'withdrawn') throw new SignageError('playlist_not_found', 'This screen has no playlist: publish one.');
    return playlistView(row, clock.now());
  }

  async function withdraw(caller: Caller, screenId: string): Promise<void> {
    await store.write(async (tx) => {
      const screen = await lookUp(tx, caller, 'screen', screenId);
      const row = await tx.get('playlists', screen.id);
      if (!row || row.state === 'withdrawn') return;
      await tx.put('playlists', { ...row, state: 'withdrawn' });
      await recordChange(kit, tx, caller, change('withdraw', row));
    });
  }

  /** The kept versions, newest first; the cursor is the version of the page's last. */
  async function versions(
    caller: Caller,
    screenId: string,
    query: { limit: number; cursor?: string | undefined },
  ): Promise<Page<PlaylistView>> {
    const screen = await lookUp(store.read, caller, 'screen', screenId);
    const newest = await store.read.get('playlists', screen.id);
    const past = await store.read.select('pastPlaylists', 'screenId', [screen.id]);
    const below = belowVersion(query.cursor);
    const rows = [...(newest ? [newest] : []), ...past].sort((a, b) => b.version - a.version).filter((row) => row.version < below);
    const page = rows.slice(0, query.limit);
    const last = page.at(-1);
    return {
      items: page.map((row) => playlistView(row, clock.now())),
      nextCursor: rows.length > page.length && last ? String(last.version) : null,
    };
  }

  return { publish, get, withdraw, versions };
}
