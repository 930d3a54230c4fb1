import { hasBegun } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { ObservedStore } from '../observed-store.ts';
import { keepLoop } from './loops.ts';

/** Limits of one change that moves or deletes contents, which take up to a megabyte each. */
const maxBatchBytes = 1024 * 1024;
const maxBatch = 50;
/** New contents after which superseded ones are looked for, in bytes of their items. */
const searchBytes = 4 * 1024 * 1024;

/**
 * Changes contents in batches of limited bytes, so that no change holds the event loop.
 *
 * @param change returns the bytes of the items
 */
async function inBatches(
  store: Pick<Store, 'write'>,
  ids: readonly string[],
  change: (tx: Tx, id: string) => Promise<number>,
): Promise<void> {
  for (let from = 0; from < ids.length; )
    from = await store.write(async (tx) => {
      let next = from;
      let bytes = 0;
      while (next < Math.min(ids.length, from + maxBatch) && bytes < maxBatchBytes)
        bytes += await change(tx, ids[next++] as string);
      return next;
    });
}

/**
 * Moves contents that no newest version names to `pastContents`, which take no memory. A content
 * that a version is about to name is in `contents`, so it is not lost if the search did not see the
 * version.
 */
export async function moveSuperseded(
  store: Pick<Store, 'write' | 'supersededContents'>,
): Promise<void> {
  await inBatches(store, await store.supersededContents(), async (tx, id) => {
    const row = await tx.get('contents', id);
    if (!row) return 0;
    await tx.put('pastContents', { ...row, movedAt: tx.now });
    await tx.delete('contents', id);
    await tx.delete('largeContents', id);
    return row.items.length;
  });
}

/**
 * Deletes past contents that no version names. The time since their move covers a version that has
 * become a past one meanwhile.
 */
export async function purgeUnnamed(
  store: Pick<Store, 'write' | 'unnamedContents'>,
  movedBeforeMs: number,
): Promise<void> {
  await inBatches(store, await store.unnamedContents(), async (tx, id) => {
    const row = await tx.get('pastContents', id);
    if (!row) return 0;
    if (!hasBegun(tx.now, row.movedAt)) {
      // Moved by a clock that ran fast.
      await tx.put('pastContents', { ...row, movedAt: tx.now });
      return row.items.length;
    }
    if (row.movedAt > movedBeforeMs) return 0;
    await keepLoop(tx, row);
    await tx.delete('pastContents', id);
    if (!(await tx.get('contents', id))) await tx.delete('contentMedia', id);
    return row.items.length;
  });
}

/**
 * Moves superseded contents out of memory after each few megabytes of new ones. Returns a function
 * that stops it.
 */
export function startContentUpkeep(
  store: Pick<Store, 'write' | 'supersededContents'>,
  onChange: ObservedStore['onChange'],
  log: LogSink,
): () => Promise<void> {
  let newBytes = 0;
  let isStopped = false;
  let running: Promise<void> | undefined;

  async function move(): Promise<void> {
    while (newBytes >= searchBytes && !isStopped) {
      newBytes = 0;
      await moveSuperseded(store);
    }
  }

  onChange((rows) => {
    for (const { table, row } of rows)
      if (table === 'contents' && row) newBytes += row.items.length;
    if (newBytes < searchBytes || running || isStopped) return;
    running = move()
      .catch((error) =>
        log.warn(
          { err: error },
          'Superseded playlists stay in memory; the next hour removes them.',
        ),
      )
      .finally(() => {
        running = undefined;
      });
  });
  return async () => {
    isStopped = true;
    await running;
  };
}
