import type { ClientBase } from 'pg';
import { SignageError } from '../../../domain/error.ts';
import { unfinished } from '../../copy/copy-progress.ts';
import { type Query, sendAll } from './query.ts';

/** Any number that is ours: `SIGC` in ASCII. */
const lock = 0x53494743;

/** Every instance holds the lock with others, on the connection that listens; a copy holds it alone. Both until that connection ends. */
export function joinInstances(client: ClientBase): Promise<boolean> {
  return isHeld(client, `SELECT pg_try_advisory_lock_shared(${lock}) AS held`);
}

export function holdAlone(client: ClientBase): Promise<boolean> {
  return isHeld(client, `SELECT pg_try_advisory_lock(${lock}) AS held`);
}

async function isHeld(client: ClientBase, text: string): Promise<boolean> {
  const [answer] = await sendAll<{ held: boolean }>(client, text);
  return answer?.held === true;
}

export function databaseLocked(place: string, by: string): SignageError {
  return new SignageError(
    'store_locked',
    `${place} is in use by ${by}. Stop that, or let it finish, then try again.`,
  );
}

/** Throws `copy_unfinished` for a database that has only a part of a store. */
export async function refuseUnfinishedCopy(ask: Query): Promise<void> {
  if ((await ask('SELECT FROM signage.copies')).length > 0) throw unfinished('The database');
}
