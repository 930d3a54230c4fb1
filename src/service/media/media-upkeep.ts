import { hasBegun, hourMs, minuteMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { MediaStore } from '../../media/media-store.ts';
import { slicesOf } from '../../store/store.ts';
import { confirmedTime } from '../confirmed-time.ts';
import type { SystemDependencies } from '../context.ts';
import { convertUses } from './media-notes.ts';

const batchSize = 200;

interface MediaUpkeepParts {
  files: MediaStore;
  /** Ends abandoned uploads. Called every minute. */
  sweepUploads(): Promise<void>;
  log: LogSink;
}

/**
 * Deletes files an hour after their last record, and abandoned uploads after some minutes. Converts
 * the uses that version 0.1.0 has noted. Returns a function that stops it.
 */
export function startMediaUpkeep(
  { store, clock }: Pick<SystemDependencies, 'store' | 'clock'>,
  { files, sweepUploads, log }: MediaUpkeepParts,
): () => Promise<void> {
  /**
   * Marks the row before it deletes the file, so that no upload of the same bytes ends in between.
   * A deletion that was interrupted is repeated.
   */
  async function deleteUnused(id: string): Promise<void> {
    const isDue = await store.write(async (tx) => {
      const row = await tx.get('unusedMedia', id);
      if (!row) return false;
      if (!row.isBeingDeleted && !hasBegun(tx.now, row.since)) {
        await tx.put('unusedMedia', { ...row, since: tx.now });
        return false;
      }
      const dueMs = (await confirmedTime(tx, tx.now)) - hourMs;
      if (!row.isBeingDeleted && row.since > dueMs) return false;
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
    for await (const items of slicesOf(store, 'unusedMedia', { limit: batchSize })) {
      const nowMs = clock.now();
      const dueMs = (await confirmedTime(store.read, nowMs)) - hourMs;
      const due = items.filter(
        (row) => row.isBeingDeleted || row.since <= dueMs || !hasBegun(nowMs, row.since),
      );
      for (const { id } of due) await deleteUnused(id);
    }
    await sweepUploads();
    await files.sweep();
  }

  const stopSweep = startPeriodicJob(clock, minuteMs, sweep, (error) =>
    log.warn({ err: error }, 'Cleaning up media failed; it runs again in a minute.'),
  );
  const stopConverting = startPeriodicJob(
    clock,
    minuteMs,
    () => convertUses(store),
    (error) =>
      log.warn({ err: error }, 'Converting uses of media failed; it runs again in a minute.'),
  );
  return async () => {
    await Promise.all([stopSweep(), stopConverting()]);
  };
}
