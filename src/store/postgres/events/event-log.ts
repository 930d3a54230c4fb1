import { type Clock, dayMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { dayOf } from '../../../domain/records/report.ts';
import type { EventBatch } from '../../queries.ts';
import { shortHash } from '../../short-hash.ts';
import type { Database } from '../connection/database.ts';
import { isLockHeld, lacksPartition } from '../connection/errors.ts';
import { Batcher } from '../rows/batcher.ts';
import { keptCounts } from './batch-counts.ts';
import { keptPlays } from './plays.ts';

/**
 * Limits of a group commit. A small batch takes half as long in a group of 64 as in a group of 16.
 * Larger groups gain nothing.
 */
const groupLimits = {
  concurrency: 2,
  maxItems: 64,
  maxWeight: 4 * 1024 * 1024,
  weightOf: ({ body }: EventBatch) => body.byteLength,
};
/** Number of days for which partitions are created in advance. */
const daysAhead = 4;

/** Appends batches with group commit: batches that arrive during a commit share the next one. */
export class EventLog {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  readonly #onStored: (topics: ReadonlySet<string>) => void;
  readonly #batcher: Batcher<EventBatch, string>;

  constructor(
    database: Database,
    clock: Clock | undefined,
    onStored: (topics: ReadonlySet<string>) => void,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#onStored = onStored;
    this.#batcher = new Batcher(groupLimits, (batches: readonly EventBatch[]) =>
      this.#store(batches),
    );
  }

  async append(batch: EventBatch): Promise<'stored' | 'repeated'> {
    const outcome = await this.#batcher.add(batch);
    if (outcome === 'stored' || outcome === 'repeated') return outcome;
    throw new SignageError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another batch: take a new one for each batch.',
    );
  }

  /** Waits for pending batches. */
  settled(): Promise<void> {
    return this.#batcher.settled();
  }

  /** Creates the partitions of today and the next days. */
  async createPartitions(): Promise<void> {
    const now = this.#clock?.now() ?? null;
    await this.#database.query(
      'SELECT signage.add_days(coalesce($1::bigint, signage.now_ms()), $2::integer)',
      [now, daysAhead],
    );
  }

  async #store(batches: readonly EventBatch[]): Promise<string[]> {
    const outcomes = await this.#append(batches);
    const topics = batches
      .filter((_, index) => outcomes[index] === 'stored')
      .map(({ tenantId }) => `events/${tenantId}`);
    if (topics.length > 0) this.#onStored(new Set(topics));
    return outcomes;
  }

  async #append(batches: readonly EventBatch[]): Promise<string[]> {
    try {
      return await this.#send(batches);
    } catch (error) {
      if (!lacksPartition(error)) throw error;
      await this.createPartitions();
      return await this.#send(batches);
    }
  }

  /**
   * Sends the batches in one statement, which is one transaction: all or nothing, even if this
   * process dies.
   */
  async #send(batches: readonly EventBatch[]): Promise<string[]> {
    const headers = JSON.stringify(batches.map(headerOf));
    const bodies = batches
      .map(({ body }) => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
      .join('\n');
    const now = this.#clock?.now() ?? null;
    const text = 'SELECT signage.append_batches($1::text, $2::text, $3::bigint) AS outcomes';
    const [row] = (await this.#database.query<{ outcomes: string }>(text, [
      headers,
      bodies,
      now,
    ])) as [{ outcomes: string }];
    return row.outcomes.split(',');
  }
}

function headerOf({
  tenantId,
  venueId,
  screenId,
  deviceId,
  simulated,
  deviceTime,
  sums,
  idempotency,
}: EventBatch): object {
  const place = { tenant: tenantId, venue: venueId, screen: screenId, device: deviceId };
  const keys = idempotency && {
    key: shortHash(idempotency.key),
    sent: shortHash(idempotency.sent),
  };
  const numbers = sums.numbers.length === 0 ? undefined : sums.numbers;
  return {
    ...place,
    simulated,
    device_time: deviceTime,
    numbers,
    types: sums.types,
    offsets: sums.offsets && JSON.stringify(sums.offsets),
    counts: sums.offsets ? keptPlays(sums) : keptCounts(sums),
    ...keys,
  };
}

/** A short lock timeout: while the drop waits for its lock, all appends wait, too. */
const begin = `BEGIN; SET LOCAL lock_timeout = '200ms'`;

/** Returns the name of the partition of a UTC day. */
function partitionOf(timeMs: number): string {
  return `batches_${dayOf(timeMs).replaceAll('-', '')}`;
}

/**
 * Drops the partitions before the day of `timeMs`, after `prepare` has added their counts to
 * the roll-ups. A partition in use, for example by pg_dump, is dropped the next time.
 */
export async function dropPartitionsBefore(
  database: Database,
  timeMs: number,
  prepare: (hasEvents: boolean) => Promise<void>,
): Promise<void> {
  const days = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'signage.batches'::regclass AND c.relname < $1 ORDER BY 1`,
    [partitionOf(timeMs)],
  );
  if (days.length === 0) return;
  const [found] = await database.query<{ old: boolean }>(
    'SELECT EXISTS (SELECT FROM signage.batches WHERE received_at < $1::bigint) AS old',
    [Math.floor(timeMs / dayMs) * dayMs],
  );
  await prepare(found?.old === true);
  try {
    for (const { name } of days)
      await database.transaction(begin, (query) => query(`DROP TABLE IF EXISTS signage.${name}`));
  } catch (error) {
    if (!isLockHeld(error)) throw error;
  }
}
