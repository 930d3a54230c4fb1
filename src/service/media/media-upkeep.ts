import { hourMs, minuteMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { SystemDependencies } from '../context.ts';
import { MediaParts } from './media-parts.ts';

const intervalMs = 5 * minuteMs;
const batchSize = 200;

/**
 * Deletes files an hour after their last record, and unfinished uploads an hour after their last
 * byte. Returns a function that stops it.
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

  return startPeriodicJob(clock, intervalMs, sweep, (error) =>
    log.warn({ err: error }, 'Cleaning up media failed; it runs again in 5 minutes.'),
  );
}
