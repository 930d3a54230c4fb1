import type { MediaUse } from '../../domain/media/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import type { Reader } from '../../store/store.ts';

function namesMedia({ schedule, takeover }: Layers, mediaId: string): boolean {
  const named = [...(schedule?.entries ?? []), ...(takeover ? [takeover] : [])];
  return named.some(({ mediaIds }) => mediaIds.some((id) => mediaId.endsWith(`/${id}`)));
}

/** Whether a use that version 0.1.0 noted still holds. */
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
