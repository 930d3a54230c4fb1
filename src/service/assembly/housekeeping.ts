import { dayMs, hasBegun, hourMs, isBetween, minuteMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import { dayOf } from '../../domain/records/report.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import { type Rows, slicesOf, type Tx } from '../../store/store.ts';
import { confirmedTime, makeClockLook, retainedFrom } from '../confirmed-time.ts';
import { bySystem, recordChange, type SystemDependencies } from '../context.ts';
import { creationRetentionMs } from '../creations.ts';
import { endLogin, wasUsed } from '../logins/logins.ts';
import { makeNoticeLog } from '../notices/notice-log.ts';
import { isOver } from '../signals.ts';
import { moveSuperseded, purgeUnnamed } from '../versions/content-upkeep.ts';
import { purgeDeliveries } from '../webhooks/deliveries.ts';

/** Retention of finished pairing codes and expired tickets (docs/protocol.md §3.7, §4). */
const codeRetentionMs = 24 * hourMs;
const intervalMs = minuteMs;
/** Minimum time between the move of a content and its purge. */
const unnamedMs = hourMs / 2;
const batchSize = 500;
const smallBatchSize = 50;

/**
 * Starts the housekeeping, which runs once a minute. It purges codes that finished more than a day
 * ago, expired claims and login requests, signals for TVs that are over, creations older than a
 * day, and events, notices and audit entries past their retention. Once an hour, because it reads
 * all past versions, it purges items that nothing names, takeovers that have ended, expired
 * tickets, and deliveries of webhooks past their retention. After a jump of the clock it deletes
 * nothing for its age for a day (`confirmedTime`), except claims and login requests, which are made
 * anew, and signals, which last minutes. Returns a function that stops it.
 */
export function startHousekeeping(
  deps: SystemDependencies,
  retentionDays: number,
  log: LogSink,
): () => Promise<void> {
  const { store, clock } = deps;
  /** First day that the last recorded purge keeps. */
  let recordedBefore: string | undefined;
  const lookAtClock = makeClockLook(deps, log);
  const nowForPurge = () => confirmedTime(store.read, clock.now());
  const retainedFromMs = () => retainedFrom(store.read, clock.now(), retentionDays * dayMs);

  async function purgeCodes(): Promise<void> {
    for (;;) {
      const ids = await store.finishedCodes((await nowForPurge()) - codeRetentionMs, batchSize);
      if (ids.length === 0) return;
      await store.write(async (tx) => {
        for (const id of ids) await tx.delete('codes', id);
      });
    }
  }

  /** Ids of creations sort by time, so the oldest come first. */
  async function purgeCreations(): Promise<void> {
    for (;;) {
      const { items } = await store.list('creations', { limit: batchSize });
      const endMs = (await nowForPurge()) - creationRetentionMs;
      const old = items.filter(({ createdAt }) => createdAt <= endMs);
      if (old.length === 0) return;
      await store.write(async (tx) => {
        for (const { id } of old) await tx.delete('creations', id);
      });
    }
  }

  /** Lets creations that a fast clock made end a day after its correction, too. */
  async function endFutureCreations(): Promise<void> {
    for await (const items of slicesOf(store, 'creations', { limit: batchSize })) {
      const future = items.filter(({ createdAt }) => !hasBegun(clock.now(), createdAt));
      await inBatches(
        future.map(({ id }) => id),
        async (tx, id) => {
          const row = await tx.get('creations', id);
          if (row && !hasBegun(tx.now, row.createdAt))
            await tx.put('creations', { ...row, createdAt: tx.now });
        },
      );
    }
  }

  /** Purges expired rows that live only minutes. */
  async function purgeExpired<T extends 'claims' | 'logins'>(
    table: T,
    remove: (tx: Tx, row: Rows[T]) => Promise<void>,
  ): Promise<void> {
    const isOver = ({ createdAt, expiresAt }: Rows['claims' | 'logins'], nowMs: number) =>
      !isBetween(nowMs, createdAt, expiresAt);
    for await (const items of slicesOf(store, table, { limit: batchSize })) {
      const old = items.filter((row) => isOver(row, clock.now()));
      if (old.length > 0)
        await store.write(async (tx) => {
          for (const { id } of old) {
            // Another request may have made a new row with the same id.
            const current = await tx.get(table, id);
            if (current && isOver(current, tx.now)) await remove(tx, current);
          }
        });
    }
  }

  async function purgeTickets(): Promise<void> {
    for await (const items of slicesOf(store, 'tickets', { limit: batchSize })) {
      const endMs = (await nowForPurge()) - codeRetentionMs;
      const old = items.filter(({ expiresAt }) => expiresAt <= endMs).map(({ id }) => id);
      await inBatches(old, (tx, id) => tx.delete('tickets', id));
    }
  }

  /** No screen or venue has more than one row, so a new signal may have replaced an old one. */
  async function purgeSignals(): Promise<void> {
    for await (const items of slicesOf(store, 'signals', { limit: batchSize })) {
      const over = items.filter((signals) => isOver(signals, store.now())).map(({ id }) => id);
      await inBatches(over, async (tx, id) => {
        const signals = await tx.get('signals', id);
        if (signals && isOver(signals, tx.now)) await tx.delete('signals', id);
      });
    }
  }

  /** Forgets takeovers that have ended, so that nothing names their items and files. */
  async function purgeTakeovers(): Promise<void> {
    for await (const items of slicesOf(store, 'layers', { limit: batchSize })) {
      const hasEnded = ({ takeover }: Layers, nowMs: number) =>
        takeover !== null && takeover.until <= nowMs;
      const nowMs = await nowForPurge();
      const over = items.filter((layers) => hasEnded(layers, nowMs)).map(({ id }) => id);
      await inBatches(over, async (tx, id) => {
        const layers = await tx.get('layers', id);
        if (layers && hasEnded(layers, nowMs))
          await tx.put('layers', { ...layers, takeover: null });
      });
    }
  }

  async function inBatches(
    ids: readonly string[],
    change: (tx: Tx, id: string) => Promise<void>,
  ): Promise<void> {
    for (let from = 0; from < ids.length; from += smallBatchSize)
      await store.write(async (tx) => {
        for (const id of ids.slice(from, from + smallBatchSize)) await change(tx, id);
      });
  }

  /**
   * Deletes events, notices and audit entries past their retention. The trail first gets an entry
   * about it, so that it tells a purge from a loss.
   */
  async function purgeRetained(): Promise<void> {
    const timeMs = await retainedFromMs();
    const before = dayOf(timeMs);
    const record = async () => {
      // A purge that could not end goes on a minute later.
      if (before === recordedBefore) return;
      await store.write((tx) =>
        recordChange(deps, tx, bySystem, {
          action: 'retention.purge',
          subject: { kind: 'retention', id: null },
          tenantId: null,
          details: { before, retentionDays },
        }),
      );
      recordedBefore = before;
    };
    await makeNoticeLog(store).purgeBefore(timeMs, record);
    await store.purgeBefore(timeMs, record);
  }

  /** Deletes what coverage of days past their retention would need. */
  async function purgeInputs(): Promise<void> {
    const timeMs = Math.floor((await retainedFromMs()) / dayMs) * dayMs;
    for (const table of ['pastInputs', 'loops'] as const) {
      const ids = await store.endedRows(table, timeMs);
      await inBatches(ids, (tx, id) => tx.delete(table, id));
    }
  }

  async function purge(): Promise<void> {
    await purgeCodes();
    await purgeCreations();
    await purgeExpired('claims', (tx, { id }) => tx.delete('claims', id));
    // Nobody can read an unused token after the end of its request.
    await purgeExpired('logins', (tx, row) => endLogin(deps, tx, row, bySystem, wasUsed));
    await purgeSignals();
    await purgeRetained();
  }

  const stopPurge = startPeriodicJob(clock, intervalMs, purge, (error) =>
    log.warn({ err: error }, 'Housekeeping failed; it runs again in a minute.'),
  );
  async function purgeHourly(): Promise<void> {
    await purgeTakeovers();
    await purgeTickets();
    await purgeUnnamed(store, (await nowForPurge()) - unnamedMs);
    await moveSuperseded(store);
    await purgeInputs();
    await endFutureCreations();
    await purgeDeliveries(store, await retainedFromMs());
  }

  const stopHourly = startPeriodicJob(clock, hourMs, purgeHourly, (error) =>
    log.warn({ err: error }, 'The search for unused rows failed; it runs again in an hour.'),
  );
  const onLookError = (error: unknown) =>
    log.warn({ err: error }, 'The clock could not be compared; this is retried in a minute.');
  const firstLook = lookAtClock().catch(onLookError);
  // Not part of the purge, which may take longer than a jump.
  const stopLooking = startPeriodicJob(clock, intervalMs, lookAtClock, onLookError);
  return async () => {
    await firstLook;
    await Promise.all([stopPurge(), stopHourly(), stopLooking()]);
  };
}
