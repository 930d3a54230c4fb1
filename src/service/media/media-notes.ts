import type { MediaUse, ScreenContents } from '../../domain/media/rows.ts';
import { mediaIdsOf } from '../../domain/playlists/playlist-content.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import { readContent, type Store, type Tx } from '../../store/store.ts';

/** Number of uses that one change converts. */
const batchSize = 100;

/** Notes which files a content names, in the transaction that stores it. */
export async function noteContentMedia(
  tx: Tx,
  { id, tenantId }: { id: string; tenantId: string },
  mediaIds: readonly string[],
): Promise<void> {
  if (mediaIds.length > 0 && !(await tx.get('contentMedia', id)))
    await tx.put('contentMedia', { id, tenantId, mediaIds });
}

/**
 * Notes which contents with files the kept versions of a screen name, in the transaction that
 * stores the newest version.
 *
 * @param noted what the screen's earlier versions named
 */
export async function noteScreenContents(
  tx: Tx,
  { screenId, version, past, contentId, hasMedia }: Playlist,
  noted: ScreenContents | undefined,
): Promise<void> {
  const kept = (noted?.contents ?? []).filter(
    (one) => past.includes(one.version) && !(hasMedia && one.id === contentId),
  );
  const contents = hasMedia ? [...kept, { id: contentId, version }] : kept;
  if (contents.length > 0) await tx.put('screenContents', { id: screenId, contents });
  else if (noted) await tx.delete('screenContents', screenId);
}

/** Notes the contents of a screen whose uses version 0.1.0 noted. */
async function convertScreen(tx: Tx, screenId: string): Promise<void> {
  const newest = await tx.get('playlists', screenId);
  if (!newest) return;
  const past = await tx.select('pastPlaylists', 'screenId', [screenId]);
  const lastOf = new Map<string, number>();
  for (const { contentId, version, tenantId, hasMedia } of [...past, newest]) {
    if (!hasMedia) continue;
    if (!lastOf.has(contentId) && !(await tx.get('contentMedia', contentId))) {
      const items = (await readContent(tx, contentId))?.items ?? '[]';
      await noteContentMedia(tx, { id: contentId, tenantId }, mediaIdsOf(JSON.parse(items)));
    }
    lastOf.set(contentId, Math.max(version, lastOf.get(contentId) ?? 0));
  }
  const contents = [...lastOf].map(([id, version]) => ({ id, version }));
  if (contents.length > 0) await tx.put('screenContents', { id: screenId, contents });
}

/** Notes the files of layers whose uses version 0.1.0 noted. */
async function convertLayers(tx: Tx, id: string): Promise<void> {
  const layers = await tx.get('layers', id);
  if (!layers) return;
  const { tenantId, schedule, takeover } = layers;
  for (const { contentId, mediaIds } of [
    ...(schedule?.entries ?? []),
    ...(takeover ? [takeover] : []),
  ])
    if (contentId !== null) await noteContentMedia(tx, { id: contentId, tenantId }, mediaIds);
}

/** Replaces the uses that version 0.1.0 has noted by notes of contents. */
export async function convertUses(store: Pick<Store, 'list' | 'write'>): Promise<void> {
  for (;;) {
    const { items } = await store.list('mediaUses', { limit: batchSize });
    if (items.length === 0) return;
    const [{ level, ownerId, version }] = items as [MediaUse];
    const isOfLayers = version === null;
    const uses = items.filter(
      (use) => use.ownerId === ownerId && (use.version === null) === isOfLayers,
    );
    // A version that is stored meanwhile has its own notes, or those of version 0.1.0 again.
    await store.write(async (tx) => {
      if (isOfLayers) await convertLayers(tx, `${level}/${ownerId}`);
      else await convertScreen(tx, ownerId);
      for (const { id } of uses) await tx.delete('mediaUses', id);
    });
  }
}
