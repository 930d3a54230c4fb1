import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import type { PlaylistWithItems } from '../../domain/playlists/playlist-content.ts';
import type { StoredConfig } from '../../domain/records/rows.ts';
import type {
  ConfigCopies,
  ConfigKey,
  PlaylistCopies,
  ScreenKey,
  StoredConfigCopy,
  StoredCopy,
} from '../../origin/origin.ts';
import type { Reader } from '../../store/store.ts';
import { itemsOf } from '../versions/versions.ts';

/**
 * Maximum number of attempts to update a copy whose row changes during each attempt. Afterwards the
 * update fails, and is retried later.
 */
const maxAttempts = 5;

/**
 * A kind of copies: how to read the row, access to the copies, and how to compare a copy with its
 * row.
 */
interface CopyKind<Row, Stored> {
  read(id: string): Promise<Row | undefined>;
  copies: {
    read(key: ScreenKey | ConfigKey): Promise<Stored | undefined>;
    write(row: Row, stored: Stored | undefined): Promise<boolean>;
    remove(key: ScreenKey | ConfigKey): Promise<void>;
  };
  isUpToDate(stored: Stored | undefined, row: Row | undefined): boolean;
  /** Whether the row in the store is still the row that was copied. */
  isUnchanged(row: Row | undefined, copied: Row | undefined): boolean;
  /** Name of the copy in error messages. */
  name: string;
}

/**
 * Updates a copy to match the store.
 *
 * Uses optimistic concurrency: reads the copy before the row, and replaces the copy only if its
 * ETag is unchanged. The row is therefore at least as new as the copy, and no newer copy is
 * overwritten by an older one. An object store without conditional writes can briefly hold an older
 * version. The final check against the store detects this and starts another attempt.
 */
async function sync<Row, Stored>(
  key: ScreenKey | ConfigKey,
  { read, copies, isUpToDate, isUnchanged, name }: CopyKind<Row, Stored>,
): Promise<void> {
  /** Returns `false` if the copy was changed concurrently. */
  async function updateCopy(row: Row | undefined, stored: Stored | undefined) {
    if (row) return copies.write(row, stored);
    await copies.remove(key);
    return true;
  }
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = await copies.read(key);
    const row = await read(key.id);
    if (isUpToDate(stored, row)) return;
    if (!(await updateCopy(row, stored))) continue;
    if (isUnchanged(await read(key.id), row)) return;
  }
  throw new SignageError('unavailable', `The ${name} changes faster than it can be mirrored.`);
}

/** Whether a copy matches the row in the store. */
export function isUpToDate(
  stored: StoredCopy | undefined,
  row: PlaylistWithItems | undefined,
): boolean {
  return stored && row ? stored.isOf(row) : stored === row;
}

/** Reads the newest version of a screen's playlist with its items. */
export async function readWithItems(
  reader: Pick<Reader, 'get'>,
  screenId: string,
): Promise<PlaylistWithItems | undefined> {
  const row = await reader.get('playlists', screenId);
  return row && { ...row, items: await itemsOf(reader, row) };
}

/**
 * Updates the copy of a screen's playlist to the newest version, or to a tombstone if the playlist
 * was withdrawn. Deletes the copy if the screen was deleted.
 */
export function syncScreen(
  reader: Pick<Reader, 'get'>,
  copies: PlaylistCopies,
  screen: ScreenKey,
): Promise<void> {
  return sync(screen, {
    read: (id) => readWithItems(reader, id),
    copies,
    isUpToDate,
    isUnchanged: (row, copied) => row?.version === copied?.version && row?.state === copied?.state,
    name: `playlist of the screen ${screen.id}`,
  });
}

/** Updates or deletes the copy of a config to match the store. */
export function syncConfig(
  reader: Pick<Reader, 'get'>,
  copies: ConfigCopies,
  config: ConfigKey,
): Promise<void> {
  return sync(config, {
    read: (id) => reader.get('configs', id),
    copies,
    isUpToDate: (stored: StoredConfigCopy | undefined, row: StoredConfig | undefined) =>
      stored && row ? isDeepStrictEqual(stored.row, row) : stored === row,
    isUnchanged: isDeepStrictEqual,
    name: `config ${config.id}`,
  });
}
