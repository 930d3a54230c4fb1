import type { ClientBase } from 'pg';
import { SignageError } from '../../../domain/error.ts';
import { copyUnfinishedError } from '../../copy/copy-progress.ts';
import { type Query, sendAll } from './query.ts';

/** Key of the advisory lock: `SIGC` in ASCII. */
const lockKey = 0x53494743;

/**
 * Takes the lock shared, on the listening connection of an instance. It is held until that
 * connection ends.
 */
export function takeSharedLock(client: ClientBase): Promise<boolean> {
  return tryLock(client, `SELECT pg_try_advisory_lock_shared(${lockKey}) AS held`);
}

/** Takes the lock exclusively, for a copy. It is held until the connection ends. */
export function takeExclusiveLock(client: ClientBase): Promise<boolean> {
  return tryLock(client, `SELECT pg_try_advisory_lock(${lockKey}) AS held`);
}

async function tryLock(client: ClientBase, text: string): Promise<boolean> {
  const [row] = await sendAll<{ held: boolean }>(client, text);
  return row?.held === true;
}

export function databaseLocked(location: string, holder: string): SignageError {
  return new SignageError(
    'store_locked',
    `${location} is in use by ${holder}. Stop it, or let it finish, then try again.`,
  );
}

/** Throws `copy_unfinished` if the database contains an incomplete copy of a store. */
export async function refuseUnfinishedCopy(query: Query): Promise<void> {
  if ((await query('SELECT FROM signage.copies')).length > 0)
    throw copyUnfinishedError('The database');
}
