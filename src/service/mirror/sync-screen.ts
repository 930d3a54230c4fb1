import { SignageError } from '../../domain/error.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { PlaylistCopies, ScreenKey, StoredCopy } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';

/** Attempts before giving up on a playlist that changes too fast. It is retried later. */
const maxAttempts = 5;

/** Whether a copy matches the row in the store. */
export function isUpToDate(stored: StoredCopy | undefined, row: Playlist | undefined): boolean {
  if (!stored || !row) return stored === row;
  const { copy } = stored;
  if (copy.kind === 'damaged') return false;
  if (copy.kind === 'withdrawn') return row.state === 'withdrawn' && copy.version === row.version;
  const { version, playlistId, validUntil, publishedAt, items } = copy.playlist;
  if (row.state !== 'active' || version !== row.version || playlistId !== row.playlistId)
    return false;
  return validUntil === row.validUntil && publishedAt === row.publishedAt && items === row.items;
}

/** Makes the copy match the row. Returns `false` if the copy was changed concurrently. */
async function updateCopy(
  copies: PlaylistCopies,
  screen: ScreenKey,
  stored: StoredCopy | undefined,
  row: Playlist | undefined,
): Promise<boolean> {
  if (isUpToDate(stored, row)) return true;
  if (row) return copies.write(row, stored);
  await copies.remove(screen);
  return true;
}

/** Removes the screen from the outbox, if the store still has what was copied. */
async function removeFromOutbox(
  store: Store,
  { id }: ScreenKey,
  copied: Playlist | undefined,
): Promise<boolean> {
  return store.write(async (tx) => {
    const row = await tx.get('playlists', id);
    if (row?.version !== copied?.version || row?.state !== copied?.state) return false;
    await tx.delete('mirrorPending', id);
    return true;
  });
}

/**
 * Updates the copy of a screen's playlist to match the store: the newest version, a tombstone if it
 * was withdrawn, nothing if the screen was deleted.
 *
 * Optimistic concurrency: reads the copy before the store, and replaces the copy only if its ETag
 * is unchanged. So the row is never older than a version that any instance copied before, and no
 * newer version is overwritten by an older one. Object stores without conditional writes can
 * briefly hold an older version: the final check against the store detects this and starts another
 * attempt.
 */
export async function syncScreen(
  store: Store,
  copies: PlaylistCopies,
  screen: ScreenKey,
): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = await copies.read(screen);
    const row = await store.read.get('playlists', screen.id);
    if (
      (await updateCopy(copies, screen, stored, row)) &&
      (await removeFromOutbox(store, screen, row))
    )
      return;
  }
  throw new SignageError(
    'unavailable',
    `The playlist of the screen ${screen.id} changes faster than it can be mirrored.`,
  );
}
