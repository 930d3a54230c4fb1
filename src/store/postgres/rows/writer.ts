import pLimit, { type LimitFunction } from 'p-limit';
import { type Random, systemClock } from '../../../domain/clock.ts';
import { outcomeOf } from '../../outcome.ts';
import type { Tx } from '../../store.ts';
import { unavailable } from '../../unavailable.ts';
import type { Database } from '../connection/database.ts';
import { isSerializationConflict, SerializationConflict } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import { type Commit, commitOne, makeGroupCommit } from './commits.ts';
import type { DatabaseClock } from './database-clock.ts';
import { DatabaseTransaction } from './database-transaction.ts';
import { VersionedRows } from './versioned-rows.ts';

/** Number of conflicts after which a change runs under an exclusive lock. */
const maxOptimisticAttempts = 6;
const maxAttempts = 12;
const backoffMs = 8;
/**
 * Maximum number of concurrent changes. More changes would only wait longer for their commit, with
 * older reads.
 */
const maxConcurrent = 200;

type Work<T> = (tx: Tx) => Promise<T>;

/**
 * Runs changes with optimistic concurrency control, serializable. A change reads committed rows
 * without locks. To commit, the database locks the table `turn` and checks that all rows read are
 * unchanged. Then it applies the change as a whole, or reports a conflict and the change is
 * retried. After several conflicts a change runs under the lock from the start and succeeds.
 *
 * LOCK takes no snapshot, so the statements after it see everything committed before. The lock mode
 * does not conflict with pg_dump.
 */
export class Writer {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #random: Random;
  readonly #limit: LimitFunction = pLimit(maxConcurrent);
  /**
   * Changes that conflicted are retried one at a time, so that they do not conflict with each other
   * again.
   */
  readonly #retryLimit: LimitFunction = pLimit(1);
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #committed: (topics: ReadonlySet<string>) => void;
  readonly #rows: VersionedRows;
  readonly #commit: Commit;
  #latestStamp = 0;

  constructor(
    database: Database,
    rows: VersionedRows,
    {
      clock,
      random,
      committed,
    }: {
      clock: DatabaseClock;
      random: Random;
      committed: (topics: ReadonlySet<string>) => void;
    },
  ) {
    this.#database = database;
    this.#rows = rows;
    this.#clock = clock;
    this.#random = random;
    this.#committed = committed;
    this.#commit = makeGroupCommit(database.query);
  }

  write<T>(change: Work<T>): Promise<T> {
    const writing = this.#limit(() => this.#retry(change)).finally(() =>
      this.#inFlight.delete(writing),
    );
    this.#inFlight.add(writing);
    return writing;
  }

  /** Waits for pending changes. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  async #retry<T>(change: Work<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt === 1) return await this.#attempt(change, false);
        return await this.#retryLimit(() =>
          attempt > maxOptimisticAttempts
            ? this.#attemptLocked(change)
            : this.#attempt(change, true),
        );
      } catch (error) {
        if (!isSerializationConflict(error)) throw error;
        if (attempt === maxAttempts)
          throw unavailable('Too many concurrent changes; nothing was changed.', error);
      }
      const [randomByte = 0] = this.#random(1);
      await new Promise<void>(
        (resolve) => void systemClock.after((backoffMs * attempt * randomByte) / 256, resolve),
      );
    }
  }

  async #attempt<T>(change: Work<T>, checksKeysEarly: boolean): Promise<T> {
    const tx = new DatabaseTransaction(this.#timeAt(await this.#clock.read()), this.#rows, {
      checksKeysEarly,
    });
    const value = await run(change, tx, this.#commit);
    this.#notify(tx);
    return value;
  }

  async #attemptLocked<T>(change: Work<T>): Promise<T> {
    const { tx, value } = await this.#database.transaction(
      beginLocked,
      async (query: Query, [{ now }]: readonly [{ now: number }]) => {
        const own = new DatabaseTransaction(
          this.#timeAt(this.#clock.learn(now)),
          new VersionedRows(query),
          {
            checksKeysEarly: true,
          },
        );
        return { tx: own, value: await run(change, own, (steps) => commitOne(query, steps)) };
      },
    );
    this.#notify(tx);
    return value;
  }

  #notify({ topics }: DatabaseTransaction): void {
    if (topics.size > 0) this.#committed(topics);
  }

  #timeAt(now: number): { now: number; stamp: number } {
    this.#latestStamp = Math.max(this.#latestStamp, now);
    return { now, stamp: this.#latestStamp };
  }
}

const beginLocked = `BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE signage.turn IN EXCLUSIVE MODE; SELECT signage.now_ms() AS now`;

/**
 * Runs a change and commits it. If the change throws, its reads are checked. Its error is rethrown
 * only if all reads saw the same state.
 */
async function run<T>(change: Work<T>, tx: DatabaseTransaction, commit: Commit): Promise<T> {
  const outcome = await outcomeOf(change, tx);
  tx.end();
  if (tx.failure !== undefined) throw tx.failure;
  const steps = 'error' in outcome ? tx.checks() : tx.steps();
  if (needsCommit(steps) && !(await commit(steps))) throw new SerializationConflict();
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/**
 * Whether the database must execute the steps. A single look-up needs no check, because it always
 * reads one state.
 */
function needsCommit(steps: ReturnType<DatabaseTransaction['steps']>): boolean {
  return steps.length > 1 || steps.some(({ what }) => what !== 'seen' && what !== 'counted');
}
