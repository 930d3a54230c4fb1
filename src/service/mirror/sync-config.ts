import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import type { StoredConfig } from '../../domain/records/rows.ts';
import type { ConfigCopies, ConfigOf, HeldConfig } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';

/** Somebody changes it faster than this can follow: it is tried again later. */
const mostTurns = 5;

/** Answers `false` when somebody else changed the copy meanwhile. */
async function follow(
  copies: ConfigCopies,
  of: ConfigOf,
  held: HeldConfig | undefined,
  row: StoredConfig | undefined,
): Promise<boolean> {
  if (row) return isDeepStrictEqual(held?.row, row) || copies.write(row, held);
  if (held) await copies.remove(of);
  return true;
}

/** Takes the config out of the outbox, if the store still says what its copy says. */
async function settle(
  store: Store,
  { id }: ConfigOf,
  mirrored: StoredConfig | undefined,
): Promise<boolean> {
  return store.write(async (tx) => {
    if (!isDeepStrictEqual(await tx.get('configs', id), mirrored)) return false;
    await tx.delete('mirrorPending', id);
    return true;
  });
}

/** Makes the copy of a stored config say what the store says, or go with it. As with playlists, the store is read after the copy. */
export async function mirrorConfig(
  store: Store,
  copies: ConfigCopies,
  of: ConfigOf,
): Promise<void> {
  for (let turn = 0; turn < mostTurns; turn++) {
    const held = await copies.read(of);
    const row = await store.read.get('configs', of.id);
    if ((await follow(copies, of, held, row)) && (await settle(store, of, row))) return;
  }
  throw new SignageError(
    'unavailable',
    `The config ${of.id} changes faster than it can be mirrored.`,
  );
}
