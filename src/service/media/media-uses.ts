import { SignageError } from '../../domain/error.ts';
import type { Media, MediaUse } from '../../domain/media/rows.ts';
import { keptVersions } from '../../domain/records/playlist.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';
import type { Principal } from '../context.ts';

export const mediaRowId = (tenantId: string, id: string) => `${tenantId}/${id}`;

/** Notes that a version of a playlist names a file, in the transaction that stores the version. */
export function noteUse(
  tx: Tx,
  { screenId, tenantId, version }: Playlist,
  id: string,
): Promise<void> {
  const mediaId = mediaRowId(tenantId, id);
  return tx.put('mediaUses', { id: `${screenId}/${id}`, mediaId, screenId, version });
}

/** Whether a kept version of the playlist of a screen still names a file. */
export async function isInUse(
  reader: Pick<Reader, 'get'>,
  { screenId, version }: MediaUse,
): Promise<boolean> {
  const newest = await reader.get('playlists', screenId);
  return newest !== undefined && version > newest.version - keptVersions;
}

/** Returns the ids of the screens whose kept playlists name a file. */
export async function screensUsing(reader: Reader, { id }: Pick<Media, 'id'>): Promise<string[]> {
  const screens: string[] = [];
  for (const use of await reader.select('mediaUses', 'mediaId', [id]))
    if (await isInUse(reader, use)) screens.push(use.screenId);
  return screens;
}

/**
 * Whether the caller may see a file of its tenant. A token bound to venues may see what it has
 * uploaded, and what the screens of its venues use.
 */
export async function isMediaVisible(
  reader: Reader,
  { venueIds, actor }: Pick<Principal, 'venueIds' | 'actor'>,
  row: Media,
): Promise<boolean> {
  if (venueIds === null || row.tokenIds.includes(String(actor.id))) return true;
  for (const screenId of await screensUsing(reader, row)) {
    const screen = await reader.get('screens', screenId);
    if (screen && venueIds.includes(screen.venueId)) return true;
  }
  return false;
}

/** Throws `media_not_found` unless the caller may see all these files. */
export async function requireMedia(
  tx: Reader,
  principal: Principal,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    const row = await tx.get('media', mediaRowId(String(principal.tenantId), id));
    if (row && (await isMediaVisible(tx, principal, row))) continue;
    throw new SignageError(
      'media_not_found',
      `The playlist names the file ${id}, which the service does not have. Upload it first.`,
    );
  }
}
