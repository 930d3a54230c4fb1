import { hourMs, minuteMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { MediaUse } from '../../domain/media/rows.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { SystemDependencies } from '../context.ts';
import { MediaParts } from './media-parts.ts';
import { isInUse } from './media-uses.ts';

const intervalMs = 5 * minuteMs;
const batchSize = 200;

/**
 * Deletes files an hour after their last record, unfinished uploads an hour after their last byte,
 * and notes of uses that are over. Returns a function that stops it.
 */
export function startMediaUpkeep(
  { store, clock }: Pick<SystemDependencies, 'store' | 'clock'>,
  files: MediaStore,
  log: LogSink,
): () => Promise<void> {
  const parts = new MediaParts(files);

  /**
   * Marks the row before it deletes the file, so that no upload of the same bytes ends in between.
   * A deletion that was interrupted is repeated.
   */
  async function deleteUnused(id: string): Promise<void> {
    const isDue = await store.write(async (tx) => {
      const row = await tx.get('unusedMedia', id);
      if (!row || (!row.isBeingDeleted && row.since > tx.now - hourMs)) return false;
      if ((await tx.count('media', 'fileId', id)) > 0) {
        await tx.delete('unusedMedia', id);
        return false;
      }
      await tx.put('unusedMedia', { ...row, isBeingDeleted: true });
      return true;
    });
    if (!isDue) return;
    await files.delete(id);
    await store.write((tx) => tx.delete('unusedMedia', id));
  }

  async function sweep(): Promise<void> {
    let after: string | undefined;
    do {
      const { items, next } = await store.list('unusedMedia', {
        limit: batchSize,
        ...(after !== undefined && { after }),
      });
      const due = items.filter((row) => row.isBeingDeleted || row.since <= clock.now() - hourMs);
      for (const { id } of due) await deleteUnused(id);
      after = next ?? undefined;
    } while (after !== undefined);
    await parts.sweep(clock.now() - hourMs);
    await files.sweep();
  }

  /** Deletes notes of uses by versions that are no longer kept. */
  async function forgetUses(): Promise<void> {
    let after: string | undefined;
    do {
      const { items, next } = await store.list('mediaUses', {
        limit: batchSize,
        ...(after !== undefined && { after }),
      });
      const over: MediaUse[] = [];
      for (const use of items) if (!(await isInUse(store.read, use))) over.push(use);
      if (over.length > 0)
        await store.write(async (tx) => {
          // A version that was stored meanwhile may name the file again.
          for (const { id } of over) {
            const use = await tx.get('mediaUses', id);
            if (use && !(await isInUse(tx, use))) await tx.delete('mediaUses', id);
          }
        });
      after = next ?? undefined;
    } while (after !== undefined);
  }

  const stopSweep = startPeriodicJob(clock, intervalMs, sweep, (error) =>
    log.warn({ err: error }, 'Cleaning up media failed; it runs again in 5 minutes.'),
  );
  const stopForgetting = startPeriodicJob(clock, hourMs, forgetUses, (error) =>
    log.warn({ err: error }, 'Cleaning up uses of media failed; it runs again in an hour.'),
  );
  return async () => {
    await Promise.all([stopSweep(), stopForgetting()]);
  };
}
