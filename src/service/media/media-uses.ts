import { SignageError } from '../../domain/error.ts';
import type { Media, MediaUse } from '../../domain/media/rows.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
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
  const use = { id: `${screenId}/${id}`, mediaId, ownerId: screenId };
  return tx.put('mediaUses', { ...use, level: 'screen', version });
}

/** Notes that layers name files, in the transaction that stores the layers. */
export async function noteLayerUses(
  tx: Tx,
  { id, tenantId, ownerId }: Layers,
  mediaIds: readonly string[],
): Promise<void> {
  for (const fileId of mediaIds)
    await tx.put('mediaUses', {
      id: `layers/${ownerId}/${fileId}`,
      mediaId: mediaRowId(tenantId, fileId),
      level: id.startsWith('venue/') ? 'venue' : 'screen',
      ownerId,
      version: null,
    });
}

function namesMedia({ schedule, takeover }: Layers, mediaId: string): boolean {
  const named = [...(schedule?.entries ?? []), ...(takeover ? [takeover] : [])];
  return named.some(({ mediaIds }) => mediaIds.some((id) => mediaId.endsWith(`/${id}`)));
}

/** Whether a kept version of the playlist of a screen, or its layers, still name a file. */
export async function isInUse(
  reader: Pick<Reader, 'get'>,
  { level, ownerId, mediaId, version }: MediaUse,
): Promise<boolean> {
  if (version === null) {
    const layers = await reader.get('layers', `${level}/${ownerId}`);
    return layers !== undefined && namesMedia(layers, mediaId);
  }
  const newest = await reader.get('playlists', ownerId);
  return newest !== undefined && (newest.version === version || newest.past.includes(version));
}

/** Returns the uses of a file that are not over. A venue without screens may use it, too. */
export async function usesOf(reader: Reader, { id }: Pick<Media, 'id'>): Promise<MediaUse[]> {
  const uses: MediaUse[] = [];
  for (const use of await reader.select('mediaUses', 'mediaId', [id]))
    if (await isInUse(reader, use)) uses.push(use);
  return uses;
}

/** Returns the ids of the screens whose kept playlists or layers name a file. */
export async function screensUsing(reader: Reader, row: Pick<Media, 'id'>): Promise<string[]> {
  const found = new Set<string>();
  for (const use of await usesOf(reader, row)) {
    const screens =
      use.level === 'venue' ? await reader.select('screens', 'venueId', [use.ownerId]) : undefined;
    for (const screenId of screens?.map((screen) => screen.id) ?? [use.ownerId])
      found.add(screenId);
  }
  return [...found];
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
