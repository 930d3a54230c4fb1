import { dayMs, hourMs, minuteMs } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import { startPeriodicJob } from '../domain/periodic-job.ts';
import { isLiveClaim } from '../domain/records/claim.ts';
import type { Layers } from '../domain/schedule/rows.ts';
import type { Tx } from '../store/store.ts';
import type { SystemDependencies } from './context.ts';
import { creationRetentionMs } from './creations.ts';
import { makeNoticeLog } from './notices/notice-log.ts';
import { purgeDeliveries } from './webhooks/deliveries.ts';

/** Retention of finished pairing codes (docs/protocol.md §4). */
const codeRetentionMs = 24 * hourMs;
const intervalMs = minuteMs;
/** Minimum time between the move of a content and its purge. */
const unnamedMs = hourMs / 2;
const batchSize = 500;
/** Contents take up to megabytes each. */
const contentBatchSize = 50;

/**
 * Starts the housekeeping, which runs once a minute. It purges codes that finished more than a day
 * ago, expired claims, creations older than a day, and events, notices and audit entries past their
 * retention. Once an hour, because it reads all past versions, it purges items that nothing names,
 * takeovers that have ended, and deliveries of webhooks past their retention. Returns a function
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
   * Moves contents that no newest version names to `pastContents`, and purges those there that no
   * version names. A content that a version is about to name is in `contents`, so it is not lost if
   * this search did not see the version. The time since the move covers a version that has become a
   * past one meanwhile.
   */
  async function purgeContents(): Promise<void> {
    const movedBeforeMs = clock.now() - unnamedMs;
    const { past, unnamed } = await store.searchContents();
    await inBatches(past, async (tx, id) => {
      const row = await tx.get('contents', id);
      if (!row) return;
      await tx.put('pastContents', { ...row, movedAt: tx.now });
      await tx.delete('contents', id);
    });
    await inBatches(unnamed, async (tx, id) => {
      const row = await tx.get('pastContents', id);
      if (row && row.movedAt <= movedBeforeMs) await tx.delete('pastContents', id);
    });
  }

  /** Forgets takeovers that have ended, so that nothing names their items and files. */
  async function purgeTakeovers(): Promise<void> {
    let after: string | undefined;
    do {
      const { items, next } = await store.list('layers', {
        limit: batchSize,
        ...(after !== undefined && { after }),
      });
      const isOver = ({ takeover }: Layers, nowMs: number) =>
        takeover !== null && takeover.until <= nowMs;
      const over = items.filter((layers) => isOver(layers, clock.now())).map(({ id }) => id);
      await inBatches(over, async (tx, id) => {
        const layers = await tx.get('layers', id);
        if (layers && isOver(layers, tx.now)) await tx.put('layers', { ...layers, takeover: null });
      });
      after = next ?? undefined;
    } while (after !== undefined);
  }

  async function inBatches(
    ids: readonly string[],
    change: (tx: Tx, id: string) => Promise<void>,
  ): Promise<void> {
    for (let from = 0; from < ids.length; from += contentBatchSize)
      await store.write(async (tx) => {
        for (const id of ids.slice(from, from + contentBatchSize)) await change(tx, id);
      });
  }

  async function purge(): Promise<void> {
    for (let ids = await nextFinishedIds(); ids.length > 0; ids = await nextFinishedIds()) {
      await store.write(async (tx) => {
        for (const id of ids) await tx.delete('codes', id);
      });
    }
    await purgeCreations();
    await purgeClaims();
    await makeNoticeLog(store).purgeBefore(clock.now() - retentionDays * dayMs);
    await store.purgeBefore(clock.now() - retentionDays * dayMs);
  }

  const stopPurge = startPeriodicJob(clock, intervalMs, purge, (error) =>
    log.warn({ err: error }, 'Housekeeping failed; it runs again in a minute.'),
  );
  async function purgeHourly(): Promise<void> {
    await purgeTakeovers();
    await purgeContents();
    await purgeDeliveries(store, clock.now() - retentionDays * dayMs);
  }

  const stopHourly = startPeriodicJob(clock, hourMs, purgeHourly, (error) =>
    log.warn({ err: error }, 'The search for unused rows failed; it runs again in an hour.'),
  );
  return async () => {
    await Promise.all([stopPurge(), stopHourly()]);
  };
}
