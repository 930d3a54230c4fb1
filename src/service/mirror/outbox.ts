import type { MirrorPending, Playlist, StoredConfig } from '../../domain/records/rows.ts';
import type { ConfigKey, ScreenKey } from '../../origin/origin.ts';
import type { Store, Tx } from '../../store/store.ts';
import { decorateStore } from '../store-decorator.ts';

/** Adds the copy of a playlist or config to the outbox. An existing entry keeps its time. */
export async function queueCopy(tx: Tx, { id, tenantId }: ScreenKey | ConfigKey): Promise<void> {
  await tx.put(
    'mirrorPending',
    (await tx.get('mirrorPending', id)) ?? { id, tenantId, queuedAt: tx.now },
  );
}

function hasChanged(before: Playlist | undefined, row: Playlist): boolean {
  return before?.version !== row.version || before.state !== row.state;
}

/**
 * Adds an outbox entry for every change of a playlist or config, and collects the entries in
 * `queued`.
 */
function outboxTx(tx: Tx, queued: Map<string, MirrorPending>): Tx {
  const self: Tx = decorateStore(tx, {
    async put(table, row) {
      const playlist = table === 'playlists' ? (row as Playlist) : undefined;
      const before = playlist && (await tx.get('playlists', playlist.id));
      await tx.put(table, row);
      if (table === 'mirrorPending') queued.set(row.id, row as MirrorPending);
      if (playlist && hasChanged(before, playlist)) await queueCopy(self, playlist);
      if (table === 'configs') await queueCopy(self, row as StoredConfig);
    },
    async delete(table, id) {
      const before =
        table === 'playlists' || table === 'configs' ? await tx.get(table, id) : undefined;
      await tx.delete(table, id);
      if (before) await queueCopy(self, before);
    },
  });
  return self;
}

/**
 * Decorates a store with a transactional outbox. Every change of a newest playlist or of a config
 * queues an update of its copy, in the same transaction. No caller can forget the update, and a
 * crash loses no entry.
 *
 * @param onQueued called with the entries of a change, once it is durable
 */
export function withOutbox(
  store: Store,
  onQueued: (pending: readonly MirrorPending[]) => void,
): Store {
  return decorateStore(store, {
    async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
      let queued = new Map<string, MirrorPending>();
      const result = await store.write((tx) => {
        // Reset, because the store may call `change` again.
        queued = new Map();
        return change(outboxTx(tx, queued));
      });
      if (queued.size > 0) onQueued([...queued.values()]);
      return result;
    },
  });
}
