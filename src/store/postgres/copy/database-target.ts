import type { Rows, TableName } from '../../../domain/records/rows.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import {
  type CopyProgress,
  newProgress,
  notEmpty,
  requireSameOrigin,
} from '../../copy/copy-progress.ts';
import type {
  CopiedBatch,
  CopiedImpressions,
  CopiedMarks,
  DeviceKeys,
  Records,
  Section,
  StoreSource,
  StoreTarget,
} from '../../copy/transfer.ts';
import { tableNames } from '../../tables.ts';
import { putChain } from '../audit/chain.ts';
import { migrate } from '../connection/migrate.ts';
import { shapes } from '../rows/columns.ts';
import { putAudit, putBatches, putImpressions, putKeys, putMarks, putRows } from './bulk-insert.ts';
import { CopySession } from './copy-session.ts';
import { databaseSource } from './database-source.ts';

const filled = [
  ...tableNames.map((table) => shapes[table].name),
  ...['audit', 'marks', 'batches', 'batch_keys', 'rollups'].map((name) => `signage.${name}`),
];

/** Opens a database to be copied into, whose schema it makes; no service starts on it until `close`. Throws `store_locked`, `store_unreachable`, `store_unusable`. */
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

/** The progress of the copy of this source into a database; `undefined` for one that is empty. Throws `store_not_empty` for all others. */
export async function examineDatabase(
  url: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  const session = await CopySession.open(url);
  try {
    const missing = await migrate(session.connect, { dryRun: true });
    return missing.length > 0 ? undefined : await standingCopy(session, publicUrl(url), source);
  } finally {
    await session.close();
  }
}

async function standingCopy(
  session: CopySession,
  place: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  const [copy] = await session.ask<{ progress: string }>('SELECT progress FROM signage.copies');
  if (copy) {
    const progress = JSON.parse(copy.progress) as CopyProgress;
    requireSameOrigin(progress, source, place);
    return progress;
  }
  for (const table of filled) {
    const [answer] = await session.ask<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${table}) AS found`,
    );
    if (answer?.found) throw notEmpty(place, `it has data in ${table}`);
  }
  return undefined;
}

/** A database that is copied into. What comes and how far it came is one change, each time: what broke off goes on exactly there. */
class DatabaseTarget implements StoreTarget {
  readonly #session: CopySession;
  readonly #place: string;
  readonly #days = new Set<number>();
  #progress: CopyProgress | undefined;

  constructor(session: CopySession, place: string) {
    this.#session = session;
    this.#place = place;
  }

  async begin(source: StoreSource): Promise<boolean> {
    const { ask } = this.#session;
    const standing = await standingCopy(this.#session, this.#place, source);
    this.#progress = standing ?? newProgress(source);
    if (standing) return true;
    await this.#session.change(async () => {
      await ask('INSERT INTO signage.copies (progress) VALUES ($1)', [
        JSON.stringify(this.#progress),
      ]);
      // Of a service that started once, and did nothing.
      await ask('DELETE FROM signage.server');
      await ask('INSERT INTO signage.server (secret) VALUES ($1)', [
        Buffer.from(source.secret).toString('hex'),
      ]);
    });
    return false;
  }

  done(section: Section): number {
    return this.#noted.done[section] ?? 0;
  }

  isComplete(section: Section): boolean {
    return this.#noted.complete.includes(section);
  }

  async accept<S extends Section>(section: S, records: readonly Records[S][]): Promise<void> {
    const done = { ...this.#noted.done, [section]: this.done(section) + records.length };
    await this.#change({ ...this.#noted, done }, () =>
      this.#put(section, records as readonly unknown[]),
    );
  }

  async complete(section: Section): Promise<void> {
    await this.#change(
      { ...this.#noted, complete: [...this.#noted.complete, section] },
      async () => {},
    );
  }

  async #change(progress: CopyProgress, work: () => Promise<void>): Promise<void> {
    await this.#session.change(async () => {
      await work();
      await this.#session.ask('UPDATE signage.copies SET progress = $1', [
        JSON.stringify(progress),
      ]);
    });
    this.#progress = progress;
  }

  async #put(section: Section, records: readonly unknown[]): Promise<void> {
    const { ask } = this.#session;
    if (section === 'batches') await putBatches(ask, records as readonly CopiedBatch[], this.#days);
    else if (section === 'idempotency') await putKeys(ask, records as readonly DeviceKeys[]);
    else if (section === 'impressions')
      await putImpressions(ask, records as readonly CopiedImpressions[]);
    else if (section === 'marks') await putMarks(ask, records as readonly CopiedMarks[]);
    else if (section === 'audit') await putAudit(ask, records as readonly SealedEntry[]);
    else await putRows(ask, shapes[section], records as readonly Rows[TableName][]);
  }

  /** The log goes on where that of the source ends, and all of it is in the roll-ups. */
  async finish(): Promise<void> {
    const { logEnd, chain } = this.#noted;
    const { seq, receivedAt } = logEnd;
    if (chain) await putChain(this.#session.ask, chain);
    for (const name of ['log_head', 'rollup_mark']) {
      await this.#session.ask(`UPDATE signage.${name} SET received_at = $1, seq = $2`, [
        receivedAt,
        seq,
      ]);
    }
    await this.#session.askAll(`ANALYZE ${filled.join(', ')}`);
  }

  async copied(): Promise<StoreSource> {
    return databaseSource(this.#session, async () => {});
  }

  async release(): Promise<void> {
    await this.#session.ask('DELETE FROM signage.copies');
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  get #noted(): CopyProgress {
    if (!this.#progress) throw new Error('the copy has not begun');
    return this.#progress;
  }
}
