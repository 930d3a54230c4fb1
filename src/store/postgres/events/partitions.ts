import { dayMs } from '../../../domain/clock.ts';
import type { Database } from '../connection/database.ts';
import { isLockHeld } from '../connection/errors.ts';

/** While a partition is dropped, or waits to be, every batch waits too. */
const beginning = `BEGIN; SET LOCAL lock_timeout = '200ms'`;

/** The partition of a UTC day. */
function partitionOf(timeMs: number): string {
  return `batches_${new Date(Math.floor(timeMs / dayMs) * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * Drops the log's days before that of `timeMs`, once `fold` has put what they count into the roll-ups. What somebody reads just now, such as pg_dump, stays for
 * the next time.
 */
export async function dropDaysBefore(
  database: Database,
  timeMs: number,
  fold: () => Promise<void>,
): Promise<void> {
  const days = await database.ask<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'signage.batches'::regclass AND c.relname < $1 ORDER BY 1`,
    [partitionOf(timeMs)],
  );
  if (days.length === 0) return;
  await fold();
  try {
    for (const { name } of days)
      await database.transaction(beginning, (ask) => ask(`DROP TABLE IF EXISTS signage.${name}`));
  } catch (error) {
    if (!isLockHeld(error)) throw error;
  }
}
