import type { ConfigLevel, Rows, Screen } from '../../domain/records/rows.ts';
import type { Store, Tx } from '../../store/store.ts';
import { queueCopy } from './outbox.ts';

const current = 'current';
/** Of configs, which a service that copied playlists alone has not been given. */
const configs = 'configs';
const pageSize = 200;
/** The location while there is none. */
const nowhere = '';

/** Who has a config, and perhaps a playlist. */
type Owner = 'tenants' | 'venues' | 'screens';

/** Queues what belongs to every row of a table. */
async function queueAll<T extends Owner>(
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

/** `alsoWithout`: also where there is no config. */
const queueConfig =
  (level: ConfigLevel, alsoWithout: boolean) => async (tx: Tx, owner: Rows[Owner]) => {
    const id = `${level}/${owner.id}`;
    if (!alsoWithout && !(await tx.get('configs', id))) return;
    await queueCopy(tx, { id, tenantId: 'tenantId' in owner ? owner.tenantId : owner.id });
  };

/** Queues everything of one kind, unless this object store has been given it before, and got every change since. */
async function fill(
  store: Store,
  kind: string,
  location: string,
  queue: (isFirst: boolean) => Promise<void>,
): Promise<void> {
  const target = await store.read.get('mirrorTargets', kind);
  if (target?.location === location) return;
  await queue(target === undefined);
  // Last: a start that is cut short begins again.
  await store.write((tx) => tx.put('mirrorTargets', { id: kind, location }));
}

/** Queues every playlist and every config, unless this object store has been given them before. */
export async function startInitialFill(store: Store, location: string): Promise<void> {
  await fill(store, current, location, () => queueAll(store, 'screens', queuePlaylist));
  await fill(store, configs, location, async (isFirst) => {
    // What was removed in a time without has left its copy.
    await queueAll(store, 'tenants', queueConfig('tenant', !isFirst));
    await queueAll(store, 'venues', queueConfig('venue', !isFirst));
    await queueAll(store, 'screens', queueConfig('screen', !isFirst));
  });
}

/** From now on changes reach no object store: whichever comes next is to be filled anew. */
export async function leaveMirror(store: Store): Promise<void> {
  for (const kind of [current, configs]) {
    const target = await store.read.get('mirrorTargets', kind);
    if (target && target.location !== nowhere)
      await store.write((tx) => tx.put('mirrorTargets', { id: kind, location: nowhere }));
  }
}
