import type { MirrorPending, Playlist, StoredConfig } from '../../domain/records/rows.ts';
import type { ConfigOf, ScreenOf } from '../../origin/origin.ts';
import type { Store, Tx } from '../../store/store.ts';
import { decorateStore } from '../store-decorator.ts';

/** Notes that the copy of a screen's playlist, or of a config, is to be looked at; the oldest note stays. */
export async function queueCopy(tx: Tx, { id, tenantId }: ScreenOf | ConfigOf): Promise<void> {
  await tx.put(
    'mirrorPending',
    (await tx.get('mirrorPending', id)) ?? { id, tenantId, queuedAt: tx.now },
  );
}

function isOther(before: Playlist | undefined, row: Playlist): boolean {
  return before?.version !== row.version || before.state !== row.state;
}

/** Queues a copy with every change of a playlist or config; tells `noted` of all that is queued. */
function notingTx(tx: Tx, noted: Map<string, MirrorPending>): Tx {
  const self: Tx = decorateStore(tx, {
    async put(table, row) {
      const playlist = table === 'playlists' ? (row as Playlist) : undefined;
      const before = playlist && (await tx.get('playlists', playlist.id));
      await tx.put(table, row);
      if (table === 'mirrorPending') noted.set(row.id, row as MirrorPending);
      if (playlist && isOther(before, playlist)) await queueCopy(self, playlist);
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
 * The same store, with an outbox: whoever changes the newest version of a screen's playlist, or ends it, or changes a config, notes in the same transaction that its copy is
 * to follow. No change can forget to, and none is lost in a crash.
 *
 * @param queued told what a change has queued, once it is durable
 */
export function withOutbox(
  store: Store,
  queued: (pending: readonly MirrorPending[]) => void,
): Store {
  return decorateStore(store, {
    async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
      let noted = new Map<string, MirrorPending>();
      const result = await store.write((tx) => {
        // It may run again.
        noted = new Map();
        return change(notingTx(tx, noted));
      });
      if (noted.size > 0) queued([...noted.values()]);
      return result;
    },
  });
}
