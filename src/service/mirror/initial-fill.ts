import type { ConfigLevel, Rows, Screen } from '../../domain/records/rows.ts';
import type { Store, Tx } from '../../store/store.ts';
import { queueCopy } from './outbox.ts';

const playlistTarget = 'current';
/**
 * Id of the record for configs. It is separate from the record for playlists, because older
 * versions of the service mirrored only playlists.
 */
const configTarget = 'configs';
const pageSize = 200;
/** Stored location while no object store is configured. */
const noLocation = '';

/** Tables of records that can have a config. Screens can also have a playlist. */
type OwnerTable = 'tenants' | 'venues' | 'screens';

/** Calls `queue` for every row of a table, one page per transaction. */
async function queueAll<T extends OwnerTable>(
  store: Store,
  table: T,
  queue: (tx: Tx, owner: Rows[T]) => Promise<void>,
): Promise<void> {
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.list(table, {
      limit: pageSize,
      ...(after !== undefined && { after }),
    });
    await store.write(async (tx) => {
      for (const row of page.items) await queue(tx, row);
    });
    after = page.next;
  }
}

async function queuePlaylist(tx: Tx, { id }: Screen): Promise<void> {
  const playlist = await tx.get('playlists', id);
  if (playlist) await queueCopy(tx, playlist);
}

/** `includeMissing`: also queues the owners that have no config. */
const queueConfig =
  (level: ConfigLevel, includeMissing: boolean) => async (tx: Tx, owner: Rows[OwnerTable]) => {
    const id = `${level}/${owner.id}`;
    if (!includeMissing && !(await tx.get('configs', id))) return;
    await queueCopy(tx, { id, tenantId: 'tenantId' in owner ? owner.tenantId : owner.id });
  };

/**
 * Queues all copies of one kind. Does nothing if this object store was filled earlier and has been
 * the configured one ever since.
 */
async function fill(
  store: Store,
  kind: string,
  location: string,
  queue: (isFirst: boolean) => Promise<void>,
): Promise<void> {
  const target = await store.read.get('mirrorTargets', kind);
  if (target?.location === location) return;
  await queue(target === undefined);
  // Written last, so that an interrupted fill starts again at the next start.
  await store.write((tx) => tx.put('mirrorTargets', { id: kind, location }));
}

/** Queues every playlist and every config, unless this object store already received them. */
export async function startInitialFill(store: Store, location: string): Promise<void> {
  await fill(store, playlistTarget, location, () => queueAll(store, 'screens', queuePlaylist));
  await fill(store, configTarget, location, async (isFirst) => {
    // After the first fill, owners without a config are queued too. Their config may have been
    // deleted while no object store was configured, so its copy may still exist.
    await queueAll(store, 'tenants', queueConfig('tenant', !isFirst));
    await queueAll(store, 'venues', queueConfig('venue', !isFirst));
    await queueAll(store, 'screens', queueConfig('screen', !isFirst));
  });
}

/** Records that changes are no longer mirrored. The next object store gets an initial fill. */
export async function disableMirror(store: Store): Promise<void> {
  for (const kind of [playlistTarget, configTarget]) {
    const target = await store.read.get('mirrorTargets', kind);
    if (target && target.location !== noLocation)
      await store.write((tx) => tx.put('mirrorTargets', { id: kind, location: noLocation }));
  }
}
