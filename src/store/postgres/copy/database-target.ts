import { publicUrl } from '../../../domain/store-url.ts';
import { newProgress, requireSameOrigin, storeNotEmptyError } from '../../copy/copy-progress.ts';
import type {
  CopyProgress,
  Records,
  Section,
  StoreSource,
  StoreTarget,
} from '../../copy/transfer.ts';
import { tableNames } from '../../sections.ts';
import { putChain } from '../audit/chain.ts';
import { migrate } from '../connection/migrate.ts';
import { tableSchema } from '../rows/columns.ts';
import { CopySession } from './copy-session.ts';
import { databaseSource } from './database-source.ts';
import { sectionStatements } from './section-statements.ts';

const tablesToFill = [
  ...tableNames.map((table) => tableSchema(table).name),
  ...['audit', 'marks', 'batches', 'batch_keys', 'rollups', 'sequences'].map(
    (name) => `signage.${name}`,
  ),
];

/**
 * Opens a database as the target of a copy and creates its schema. No service starts on it until
 * `close`. Throws `store_locked`, `store_unreachable`, `store_unusable`.
 */
export async function openDatabaseTarget(url: string): Promise<StoreTarget> {
  const session = await CopySession.open(url);
  try {
    await migrate(session.connect);
    return new DatabaseTarget(session, publicUrl(url));
  } catch (error) {
    await session.close();
    throw error;
  }
}

/**
 * Returns the progress of this source's copy into a database, or `undefined` if the database is
 * empty. Throws `store_not_empty` otherwise.
 */
export async function examineDatabase(
  url: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  const session = await CopySession.open(url);
  try {
    const missing = await migrate(session.connect, { dryRun: true });
    return missing.length > 0 ? undefined : await existingCopy(session, publicUrl(url), source);
  } finally {
    await session.close();
  }
}

async function existingCopy(
  session: CopySession,
  location: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  const [copy] = await session.query<{ progress: string }>('SELECT progress FROM signage.copies');
  if (copy) {
    const progress = JSON.parse(copy.progress) as CopyProgress;
    requireSameOrigin(progress, source, location);
    return progress;
  }
  for (const table of tablesToFill) {
    const [row] = await session.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${table}) AS found`,
    );
    if (row?.found) throw storeNotEmptyError(location, `it has data in ${table}`);
  }
  return undefined;
}

/**
 * The PostgreSQL database that a copy writes to. Records and progress are committed in one
 * transaction, so a resumed copy neither skips nor repeats a record.
 */
class DatabaseTarget implements StoreTarget {
  readonly #session: CopySession;
  readonly #location: string;
  #progress: CopyProgress | undefined;

  constructor(session: CopySession, location: string) {
    this.#session = session;
    this.#location = location;
  }

  async begin(source: StoreSource): Promise<boolean> {
    const { query } = this.#session;
    const existing = await existingCopy(this.#session, this.#location, source);
    this.#progress = existing ?? newProgress(source);
    if (existing) return true;
    await this.#session.change(async () => {
      await query('INSERT INTO signage.copies (progress) VALUES ($1)', [
        JSON.stringify(this.#progress),
      ]);
      // A service that started but stored nothing may have left a row.
      await query('DELETE FROM signage.server');
      await query('INSERT INTO signage.server (secret) VALUES ($1)', [
        Buffer.from(source.secret).toString('hex'),
      ]);
    });
    return false;
  }

  progress(): CopyProgress {
    if (!this.#progress) throw new Error('the copy has not begun');
    return this.#progress;
  }

  async accept<S extends Section>(section: S, records: readonly Records[S][]): Promise<void> {
    const { done: before } = this.progress();
    const done = { ...before, [section]: (before[section] ?? 0) + records.length };
    await this.#change({ ...this.progress(), done }, () =>
      sectionStatements[section].insert(this.#session.query, records),
    );
  }

  async complete(section: Section): Promise<void> {
    const complete = [...this.progress().complete, section];
    await this.#change({ ...this.progress(), complete }, async () => {});
  }

  async #change(progress: CopyProgress, work: () => Promise<void>): Promise<void> {
    await this.#session.change(async () => {
      await work();
      await this.#session.query('UPDATE signage.copies SET progress = $1', [
        JSON.stringify(progress),
      ]);
    });
    this.#progress = progress;
  }

  /**
   * Writes the chain and the end of the log of the source. Marks the whole log as folded into the
   * roll-ups. Updates the statistics of the query planner.
   */
  async finish(): Promise<void> {
    const { logEnd, chain } = this.progress();
    const { seq, receivedAt } = logEnd;
    if (chain) await putChain(this.#session.query, chain);
    for (const name of ['log_head', 'rollup_mark']) {
      await this.#session.query(`UPDATE signage.${name} SET received_at = $1, seq = $2`, [
        receivedAt,
        seq,
      ]);
    }
    await this.#session.queryAll(`ANALYZE ${tablesToFill.join(', ')}`);
  }

  async copied(): Promise<StoreSource> {
    return databaseSource(this.#session, async () => {});
  }

  async release(): Promise<void> {
    await this.#session.query('DELETE FROM signage.copies');
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
