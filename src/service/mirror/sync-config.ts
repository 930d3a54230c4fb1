import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import type { StoredConfig } from '../../domain/records/rows.ts';
import type { ConfigCopies, ConfigKey, StoredConfigCopy } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';

/** Attempts before giving up on a config that changes too fast. It is retried later. */
const maxAttempts = 5;

/** Makes the copy match the row. Returns `false` if the copy was changed concurrently. */
async function updateCopy(
  copies: ConfigCopies,
  key: ConfigKey,
  stored: StoredConfigCopy | undefined,
  row: StoredConfig | undefined,
): Promise<boolean> {
  if (row) return isDeepStrictEqual(stored?.row, row) || copies.write(row, stored);
  if (stored) await copies.remove(key);
  return true;
}

/** Removes the config from the outbox, if the store still has what was copied. */
async function removeFromOutbox(
  store: Store,
  { id }: ConfigKey,
  copied: StoredConfig | undefined,
): Promise<boolean> {
  return store.write(async (tx) => {
    if (!isDeepStrictEqual(await tx.get('configs', id), copied)) return false;
    await tx.delete('mirrorPending', id);
    return true;
  });
}

/**
 * Updates or deletes the copy of a config to match the store. Reads the store after the copy, for
 * the same reason as `syncScreen`.
 */
export async function syncConfig(
  store: Store,
  copies: ConfigCopies,
  key: ConfigKey,
): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = await copies.read(key);
    const row = await store.read.get('configs', key.id);
    if ((await updateCopy(copies, key, stored, row)) && (await removeFromOutbox(store, key, row)))
      return;
  }
  throw new SignageError(
    'unavailable',
    `The config ${key.id} changes faster than it can be mirrored.`,
  );
}
