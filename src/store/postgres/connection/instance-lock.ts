import type { ClientBase } from 'pg';
import { SignageError } from '../../../domain/error.ts';
import { sendAll } from './query.ts';

/** Key of the advisory lock: `SIGC` in ASCII. */
const lockKey = 0x53494743;

/**
 * Tries to take the lock: shared by the instances, exclusive for a copy or restore. It is held
 * until the connection ends.
 */
export async function takeLock(client: ClientBase, mode: 'shared' | 'exclusive'): Promise<boolean> {
  const take = mode === 'shared' ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  const [row] = await sendAll<{ held: boolean }>(client, `SELECT ${take}(${lockKey}) AS held`);
  return row?.held === true;
}

export function databaseLocked(location: string, holder: string): SignageError {
  return new SignageError(
    'store_locked',
    `${location} is in use by ${holder}. Stop it, or let it finish, then try again.`,
  );
}
