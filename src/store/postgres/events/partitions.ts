import { dayMs } from '../../../domain/clock.ts';
import type { Database } from '../connection/database.ts';
import { isLockHeld } from '../connection/errors.ts';

/** A short lock timeout: while the drop waits for its lock, all appends wait, too. */
const begin = `BEGIN; SET LOCAL lock_timeout = '200ms'`;

/** Returns the name of the partition of a UTC day. */
function partitionOf(timeMs: number): string {
  return `batches_${new Date(Math.floor(timeMs / dayMs) * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * Drops the partitions before the day of `timeMs`, after `fold` has added their counts to the
 * roll-ups. A partition in use, for example by pg_dump, is dropped the next time.
 */
export async function dropPartitionsBefore(
  database: Database,
  timeMs: number,
  fold: () => Promise<void>,
): Promise<void> {
  const days = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'signage.batches'::regclass AND c.relname < $1 ORDER BY 1`,
    [partitionOf(timeMs)],
  );
  if (days.length === 0) return;
  await fold();
  try {
    for (const { name } of days)
      await database.transaction(begin, (query) => query(`DROP TABLE IF EXISTS signage.${name}`));
  } catch (error) {
    if (!isLockHeld(error)) throw error;
  }
}
