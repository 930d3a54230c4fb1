import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import type { DumpSource } from '../../dump/dump.ts';
import { longTimeouts } from '../connection/connect.ts';
import { Database } from '../connection/database.ts';
import { migrate } from '../connection/migrate.ts';
import { Rollups } from '../events/rollups.ts';
import { beginSnapshot, databaseSource } from './database-source.ts';
import { DumpSession } from './dump-session.ts';

/**
 * Opens the database of a stopped service. No service starts on it until `close`. Throws
 * `store_locked`, `store_unreachable`, `store_unusable`.
 */
export async function openDatabaseSource(
  url: string,
): Promise<{ source: DumpSource; close(): Promise<void> }> {
  const session = await DumpSession.openAlone(url);
  try {
    await requireStore(session, publicUrl(url));
    const database = new Database(session.connect, longTimeouts);
    await new Rollups(database).fold().finally(() => database.close());
    await session.queryAll(beginSnapshot);
    return { source: await databaseSource(session), close: () => session.close() };
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function requireStore(session: DumpSession, location: string): Promise<void> {
  const unusable = (why: string) => new SignageError('store_unusable', `${location} ${why}.`);
  if ((await migrate(session.connect, { dryRun: true })).length > 0)
    throw unusable('has no schema: it is not the database of a service');
  if ((await session.query('SELECT FROM signage.server')).length === 0)
    throw unusable('holds no data: no service has ever started on it');
}
