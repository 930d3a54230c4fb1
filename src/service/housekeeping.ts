import { dayMs, hourMs, minuteMs } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import { startPeriodicJob } from '../domain/periodic-job.ts';
import { isLiveClaim } from '../domain/records/claim.ts';
import type { SystemDependencies } from './context.ts';
import { creationRetentionMs } from './creations.ts';

/** Retention of finished pairing codes (docs/protocol.md §4). */
const codeRetentionMs = 24 * hourMs;
const intervalMs = minuteMs;
/** Interval of the search for contents that no version names. It reads all past versions. */
const contentIntervalMs = hourMs;
/** Minimum time between two searches that found a content, before it is purged. */
const unnamedMs = hourMs / 2;
const batchSize = 500;

/**
 * Starts the housekeeping, which runs once a minute. It purges codes that finished more than a day
 * ago, expired claims, creations older than a day, and events and audit entries past their
 * retention. Once an hour, it purges items of playlists that no version names. Returns a function
 * that stops it.
 */
export function startHousekeeping(
  { store, clock }: SystemDependencies,
  retentionDays: number,
  log: LogSink,
): () => Promise<void> {
  const nextFinishedIds = () => store.finishedCodes(clock.now() - codeRetentionMs, batchSize);

  /** Ids of creations sort by time, so the oldest come first. */
  async function purgeCreations(): Promise<void> {
    for (;;) {
      const { items } = await store.list('creations', { limit: batchSize });
      const endMs = clock.now() - creationRetentionMs;
      const old = items.filter(({ createdAt }) => createdAt <= endMs);
      if (old.length === 0) return;
      await store.write(async (tx) => {
        for (const { id } of old) await tx.delete('creations', id);
      });
    }
  }

  async function purgeClaims(): Promise<void> {
    let after: string | undefined;
    do {
      const { items, next } = await store.list('claims', {
        limit: batchSize,
        ...(after !== undefined && { after }),
      });
      const old = items.filter((claim) => !isLiveClaim(claim, clock.now()));
      if (old.length > 0)
        await store.write(async (tx) => {
          for (const { id } of old) {
            // The TV's next request may have made a new claim with the same text.
            const current = await tx.get('claims', id);
            if (current && !isLiveClaim(current, tx.now)) await tx.delete('claims', id);
          }
        });
      after = next ?? undefined;
    } while (after !== undefined);
  }

  /**
   * Marks contents that no version names, and purges those that an earlier search has marked. A
   * version that names a marked content removes the mark (`storeItems`). So a content whose mark is
   * older than this search, and which this search did not find named, has no version.
   */
  async function purgeContents(): Promise<void> {
    const markedBeforeMs = clock.now() - unnamedMs;
    const unnamed = await store.unnamedContents();
    for (let from = 0; from < unnamed.length; from += batchSize) {
      const ids = unnamed.slice(from, from + batchSize);
      await store.write(async (tx) => {
        for (const id of ids) {
          const row = await tx.get('contents', id);
          if (!row) continue;
          if (row.unnamedSince === null) await tx.put('contents', { ...row, unnamedSince: tx.now });
          else if (row.unnamedSince <= markedBeforeMs) await tx.delete('contents', id);
        }
      });
    }
  }

  async function purge(): Promise<void> {
    for (let ids = await nextFinishedIds(); ids.length > 0; ids = await nextFinishedIds()) {
      await store.write(async (tx) => {
        for (const id of ids) await tx.delete('codes', id);
      });
    }
    await purgeCreations();
    await purgeClaims();
    await store.purgeBefore(clock.now() - retentionDays * dayMs);
  }

  const stopPurge = startPeriodicJob(clock, intervalMs, purge, (error) =>
    log.warn({ err: error }, 'Housekeeping failed; it runs again in a minute.'),
  );
  const stopContents = startPeriodicJob(clock, contentIntervalMs, purgeContents, (error) =>
    log.warn({ err: error }, 'The search for unused playlists failed; it runs again in an hour.'),
  );
  return async () => {
    await Promise.all([stopPurge(), stopContents()]);
  };
}
