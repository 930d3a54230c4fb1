import { SignageError } from '../../domain/error.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { HeldCopy, PlaylistCopies, ScreenOf } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';

/** Somebody publishes faster than this can follow: it is tried again later. */
const mostTurns = 5;

/** Whether a copy says what the store says. */
export function agrees(held: HeldCopy | undefined, row: Playlist | undefined): boolean {
  if (!held || !row) return held === row;
  const { copy } = held;
  if (copy.kind === 'damaged') return false;
  if (copy.kind === 'withdrawn') return row.state === 'withdrawn' && copy.version === row.version;
  const { version, playlistId, validUntil, publishedAt, items } = copy.playlist;
  if (row.state !== 'active' || version !== row.version || playlistId !== row.playlistId)
    return false;
  return validUntil === row.validUntil && publishedAt === row.publishedAt && items === row.items;
}

/** Makes the copy say what the row says; answers `false` when somebody else changed it meanwhile. */
async function follow(
  copies: PlaylistCopies,
  screen: ScreenOf,
  held: HeldCopy | undefined,
  row: Playlist | undefined,
): Promise<boolean> {
  if (agrees(held, row)) return true;
  if (row) return copies.write(row, held);
  await copies.remove(screen);
  return true;
}

/** Takes the screen out of the outbox, if the store still says what its copy says. */
async function settle(
  store: Store,
  { id }: ScreenOf,
  mirrored: Playlist | undefined,
): Promise<boolean> {
  return store.write(async (tx) => {
    const row = await tx.get('playlists', id);
    if (row?.version !== mirrored?.version || row?.state !== mirrored?.state) return false;
    await tx.delete('mirrorPending', id);
    return true;
  });
}

/**
 * Makes the copy of a screen's playlist say what the store says: the newest version, a tombstone when it was withdrawn, nothing when the screen is gone.
 *
 * The store is read after the copy, so that what it says is never older than what any instance had copied before; and whoever comes in between changes
 * the copy's etag. So no newer version is overwritten with an older one, where the object store knows conditions; where it does not, the last look at
 * the store makes up for it.
 */
export async function mirrorScreen(
  store: Store,
  copies: PlaylistCopies,
  screen: ScreenOf,
): Promise<void> {
  for (let turn = 0; turn < mostTurns; turn++) {
    const held = await copies.read(screen);
    const row = await store.read.get('playlists', screen.id);
    if ((await follow(copies, screen, held, row)) && (await settle(store, screen, row))) return;
  }
  throw new SignageError(
    'unavailable',
    `The playlist of the screen ${screen.id} changes faster than it can be mirrored.`,
  );
}
