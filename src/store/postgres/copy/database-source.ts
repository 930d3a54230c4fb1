import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import { copyUnfinishedError } from '../../copy/copy-progress.ts';
import type { Records, Section, StoreSource } from '../../copy/transfer.ts';
import { readChain } from '../audit/chain.ts';
import { longTimeouts } from '../connection/connect.ts';
import { Database } from '../connection/database.ts';
import { migrate } from '../connection/migrate.ts';
import { Rollups } from '../events/rollups.ts';
import { CopySession } from './copy-session.ts';
import { sectionStatements } from './section-statements.ts';

/**
 * Opens a database as the source of a copy. No service starts on it until `close`. Throws
 * `store_locked`, `store_unreachable`, `store_unusable`, `copy_unfinished`.
 */
export async function openDatabaseSource(url: string): Promise<StoreSource> {
  const session = await CopySession.open(url);
  try {
    await requireStore(session, publicUrl(url));
    await foldAll(session);
    return await databaseSource(session, () => session.close());
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function requireStore(session: CopySession, location: string): Promise<void> {
  const missing = await migrate(session.connect, { dryRun: true });
  if (missing.length > 0)
    throw new SignageError(
      'store_unusable',
      `${location} has no schema: it is not the database of a service.`,
    );
  const [{ found, copying } = { found: 0, copying: 0 }] = await session.query<{
    found: number;
    copying: number;
  }>(
    'SELECT (SELECT count(*) FROM signage.server) AS found, (SELECT count(*) FROM signage.copies) AS copying',
  );
  if (copying > 0) throw copyUnfinishedError(location);
  if (found === 0)
    throw new SignageError(
      'store_unusable',
      `${location} holds no data: no service has ever started on it.`,
    );
}

/** Adds the counts of all remaining batches to the roll-ups. */
async function foldAll({ connect }: CopySession): Promise<void> {
  const database = new Database(connect, longTimeouts);
  try {
    await new Rollups(database).fold();
  } finally {
    await database.close();
  }
}

interface Server {
  secret: string;
  seq: number;
  received_at: number;
  entries: number;
}

/** Returns the contents of a database that has no writers. */
export async function databaseSource(
  session: CopySession,
  close: () => Promise<void>,
): Promise<StoreSource> {
  const [server] = await session.query<Server>(
    `SELECT secret, seq, received_at, (SELECT coalesce(max(a.seq), 0) FROM signage.audit a) AS entries
      FROM signage.server, signage.log_head`,
  );
  const { secret, seq, received_at: receivedAt, entries } = server as Server;
  return {
    secret: Buffer.from(secret, 'hex'),
    logEnd: { seq, receivedAt },
    chain: await readChain(session.query),
    // Fingerprint of the contents. Nearly every change adds an audit entry. The final comparison
    // detects changes without an entry.
    state: `${seq}/${entries}`,
    async count(section) {
      const [row] = await session.query<{ found: number }>(sectionStatements[section].count);
      return row?.found ?? 0;
    },
    read: (section, skip) => readSection(session, section, skip),
    close,
  };
}

async function* readSection<S extends Section>(
  session: CopySession,
  section: S,
  skip: number,
): AsyncGenerator<readonly Records[S][]> {
  const { select, pageRows, recordOf } = sectionStatements[section];
  await session.queryAll(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; DECLARE section NO SCROLL CURSOR FOR ${select}`,
  );
  try {
    if (skip > 0) await session.queryAll(`MOVE FORWARD ${skip} FROM section`);
    for (;;) {
      const rows = await session.queryAll(`FETCH FORWARD ${pageRows} FROM section`);
      if (rows.length > 0) yield rows.map(recordOf);
      if (rows.length < pageRows) return;
    }
  } finally {
    await session.queryAll('ROLLBACK').catch(() => undefined);
  }
}
