import { SignageError } from '../../domain/error.ts';
import type { ScreenContents } from '../../domain/media/rows.ts';
import type { Named } from '../../domain/playlists/campaign.ts';
import { keptVersions, playlistStatusAt } from '../../domain/playlists/playlist.ts';
import {
  contentId,
  mediaIdsOf,
  type PlaylistContent,
} from '../../domain/playlists/playlist-content.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import { type Reader, readContent, type Tx } from '../../store/store.ts';
import {
  type AuditActor,
  type AuditChange,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';
import { noteContentMedia, noteScreenContents } from '../media/media-notes.ts';
import { putScreenNotice } from '../notices/outbox.ts';
import { noteLarge, type PlaylistQuota } from './playlist-quota.ts';

/** Returns the id of the row that names a campaign or a creative of a tenant. */
export const namedRowId = (tenantId: string, id: string) => `${tenantId}/${id}`;

export const pastId = (screenId: string, version: number) => `${screenId}/${version}`;

/** What a version shows, and until when. */
export type VersionContent = Pick<Playlist, 'contentId' | 'validUntil'> &
  Pick<PlaylistContent, 'mediaIds'>;

export function versionContent(tenantId: string, content: PlaylistContent): VersionContent {
  const { validUntil, mediaIds } = content;
  return { contentId: contentId(tenantId, content), validUntil, mediaIds };
}

/** Returns whether a row is active and has exactly this content. */
export function hasSameContent(
  row: Playlist | undefined,
  content: VersionContent,
  nowMs: number,
): row is Playlist {
  return (
    row !== undefined &&
    playlistStatusAt(row, nowMs) === 'active' &&
    row.validUntil === content.validUntil &&
    row.contentId === content.contentId
  );
}

/** Returns the items of a version. Throws `store_damaged` if they are lost. */
export async function itemsOf(
  reader: Pick<Reader, 'get'>,
  { contentId }: Playlist,
): Promise<string> {
  const content = await readContent(reader, contentId);
  if (content) return content.items;
  throw new SignageError(
    'store_damaged',
    'The items of this playlist are not in the store. Publish the playlist again.',
  );
}

/**
 * Stores items that a version will name, unless they are stored. Call it in the transaction that
 * puts the version.
 *
 * @param quota `undefined`: the items are stored whatever they take
 */
export async function storeItems(
  tx: Tx,
  tenantId: string,
  content: PlaylistContent,
  quota?: PlaylistQuota,
): Promise<VersionContent> {
  const id = contentId(tenantId, content);
  if (!(await tx.get('contents', id))) {
    const row = { id, tenantId, items: content.items };
    await tx.put('contents', row);
    if (await noteLarge(tx, row)) await quota?.check(tx, tenantId);
    await noteNames(tx, 'creatives', tenantId, content.creatives);
  }
  await noteNames(tx, 'campaigns', tenantId, content.campaigns);
  await noteContentMedia(tx, { id, tenantId }, content.mediaIds);
  return versionContent(tenantId, content);
}

/** Keeps names for reports. The last name of an id counts. */
async function noteNames(
  tx: Tx,
  table: 'campaigns' | 'creatives',
  tenantId: string,
  named: readonly Named[],
): Promise<void> {
  for (const { id, name } of named) {
    const row = { id: namedRowId(tenantId, id), tenantId, name };
    const before = await tx.get(table, row.id);
    if (before?.name !== name) await tx.put(table, { ...before, ...row });
  }
}

/**
 * Prepares the items of a past version for a new one. Returns the ids of the files that they name,
 * or `undefined` if the items are lost.
 */
export async function keepItems(tx: Tx, id: string): Promise<readonly string[] | undefined> {
  const stored = await tx.get('contents', id);
  const row = stored ?? (await tx.get('pastContents', id));
  if (!row) return undefined;
  const { tenantId, items } = row;
  if (!stored) {
    await tx.put('contents', { id, tenantId, items });
    await noteLarge(tx, row);
  }
  const mediaIds = mediaIdsOf(JSON.parse(items));
  await noteContentMedia(tx, row, mediaIds);
  return mediaIds;
}

const change = (
  verb: AuditVerb<'playlist'>,
  { screenId, tenantId, version, origin }: Playlist,
  screen: Screen | undefined,
  from?: number,
): AuditChange => ({
  action: `playlist.${verb}`,
  subject: { kind: 'screen', id: screenId },
  tenantId,
  venueIds: screen ? [screen.venueId] : [],
  details: {
    version,
    ...(origin === 'on-demand' && { origin }),
    ...(from !== undefined && { from }),
  },
});

/** A version to store. */
interface NextVersion {
  screen: Screen;
  /** The newest version so far. */
  previous: Playlist | undefined;
  /** The layers of the screen. Their switches have taken versions, too. */
  layers: Layers | undefined;
  /** What the earlier versions name. */
  noted: ScreenContents | undefined;
  /** The items are stored already (`storeItems`). */
  content: VersionContent;
  origin: Playlist['origin'];
  /** The version that is published again, if any. */
  from?: number;
}

/**
 * Returns the number of the next version, and the id of the playlist if it has one. Versions of the
 * playlist and switches of its layers share one counter.
 */
export function nextNumber(
  newest: Pick<Playlist, 'playlistId' | 'version'> | undefined,
  layers: Layers | undefined,
): { version: number; playlistId: string | undefined } {
  const delivered = layers?.delivered;
  return {
    version: Math.max(newest?.version ?? 0, delivered?.version ?? 0) + 1,
    playlistId: newest?.playlistId ?? delivered?.playlistId,
  };
}

/** Stores the next version of a screen's playlist. Keeps only the last 20 versions. */
export async function putNextVersion(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  { screen, previous, layers, noted, content, origin, from }: NextVersion,
): Promise<Playlist> {
  const { id: screenId, tenantId } = screen;
  const { version, playlistId = deps.newId() } = nextNumber(previous, layers);
  const past = previous ? [previous.version, ...previous.past] : [];
  const row: Playlist = {
    id: screenId,
    screenId,
    tenantId,
    playlistId,
    version,
    past: past.slice(0, keptVersions - 1),
    contentId: content.contentId,
    hasMedia: content.mediaIds.length > 0,
    validUntil: content.validUntil,
    state: 'active',
    publishedAt: tx.stamp,
    origin,
    noneSince: null,
  };
  await tx.put('playlists', row);
  await noteScreenContents(tx, row, noted);
  if (previous) {
    const state = playlistStatusAt(previous, tx.now) === 'active' ? 'superseded' : previous.state;
    const id = pastId(screenId, previous.version);
    await tx.put('pastPlaylists', { ...previous, id, state, past: [], noneSince: null });
    for (const oldest of past.slice(keptVersions - 1))
      await tx.delete('pastPlaylists', pastId(screenId, oldest));
  }
  await recordChange(deps, tx, by, change('publish', row, screen, from));
  // An on-demand source changes its playlists all day.
  if (origin === 'published')
    await putScreenNotice(deps, tx, 'playlist.published', screen, { version });
  return row;
}

/** Withdraws a screen's newest version. */
export async function withdrawVersion(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  screen: Screen | undefined,
  row: Playlist,
): Promise<void> {
  await tx.put('playlists', { ...row, state: 'withdrawn', noneSince: null });
  await recordChange(deps, tx, by, change('withdraw', row, screen));
  if (screen && row.origin === 'published' && playlistStatusAt(row, tx.now) === 'active') {
    const ended = { version: row.version, reason: 'withdrawn' };
    await putScreenNotice(deps, tx, 'playlist.ended', screen, ended);
  }
}

/**
 * Marks an on-demand version as published, because a manager published the same content. From then
 * on, only a manager can withdraw it.
 */
export async function adopt(tx: Tx, row: Playlist): Promise<Playlist> {
  if (row.origin === 'published') return row;
  const adopted: Playlist = { ...row, origin: 'published', noneSince: null };
  await tx.put('playlists', adopted);
  return adopted;
}
