import pLimit, { type LimitFunction } from 'p-limit';
import { type Clock, type Random, systemClock } from '../../../domain/clock.ts';
import type { Tx } from '../../store.ts';
import type { Database } from '../connection/database.ts';
import {
  isSerializationConflict,
  SerializationConflict,
  unavailable,
} from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';
import { Change } from './change.ts';
import { type Commit, Commits, makeOne } from './commits.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { lookUps, VersionedRows } from './versioned-rows.ts';

/** After so many clashes a change is run within the database's turn. */
const triesOutside = 6;
const mostTries = 12;
const pauseMs = 8;
/** Changes under way at a time: more would only be older when they are made. */
const mostUnderWay = 200;

type Work<T> = (tx: Tx) => Promise<T>;

/**
 * Runs changes as if they were made one after another. A change reads whatever is committed and holds nothing; in the end the database takes its turn (the table
 * `turn`, locked by whoever makes changes), looks whether all that the change has read is still so, and then makes it, as a whole, or says that it clashed with
 * another. Then it is run again, which the others' changes are before. One that clashed again and again is run within the turn, and so comes through.
 * (LOCK takes no snapshot: what came before the lock is seen. It does not mind pg_dump's.)
 */
export class Writer {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  readonly #random: Random;
  readonly #limit: LimitFunction = pLimit(mostUnderWay);
  /** Those that clashed and began with the same row are after the same: they go one by one. */
  readonly #turns = new KeyedMutex();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #committed: (topics: ReadonlySet<string>) => void;
  readonly #rows: VersionedRows;
  readonly #commits: Commits;
  readonly #time: Batcher<undefined, number>;
  #latest = 0;

  /** `clock` is the store's time where that is not the database's; `committed` hears of what watchers may wait for. */
  constructor(
    database: Database,
    rows: VersionedRows,
    {
      clock,
      random,
      committed,
    }: {
      clock: Clock | undefined;
      random: Random;
      committed: (topics: ReadonlySet<string>) => void;
    },
  ) {
    this.#database = database;
    this.#rows = rows;
    this.#clock = clock;
    this.#random = random;
    this.#committed = committed;
    this.#commits = new Commits(database.ask);
    this.#time = new Batcher(lookUps, async (calls: readonly undefined[]) => {
      const [{ now }] = (await database.ask('SELECT signage.now_ms() AS now')) as [{ now: number }];
      return calls.map(() => now);
    });
  }

  write<T>(change: Work<T>): Promise<T> {
    const writing = this.#limit(() => this.#tryOn(change)).finally(() =>
      this.#underWay.delete(writing),
    );
    this.#underWay.add(writing);
    return writing;
  }

  /** Waits until no change is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #tryOn<T>(change: Work<T>): Promise<T> {
    let beginning: string | undefined;
    for (let tries = 1; ; tries++) {
      try {
        if (beginning === undefined) return await this.#attempt(change, false);
        return await this.#turns.take(...this.#again(beginning, change, tries > triesOutside));
      } catch (error) {
        if (!isSerializationConflict(error)) throw error;
        if (tries === mostTries)
          throw unavailable('Too many changes at the same moment; nothing was changed.', error);
        beginning = error instanceof SerializationConflict ? error.beginning : '';
      }
      const [chance = 0] = this.#random(1);
      await new Promise<void>(
        (resolve) => void systemClock.after((pauseMs * tries * chance) / 256, resolve),
      );
    }
  }

  #again<T>(
    beginning: string,
    change: Work<T>,
    withinTurn: boolean,
  ): [thing: string, work: () => Promise<T>] {
    return withinTurn
      ? ['', () => this.#withinTurn(change)]
      : [beginning, () => this.#attempt(change, true)];
  }

  async #attempt<T>(change: Work<T>, looksAhead: boolean): Promise<T> {
    const tx = new Change(this.#timeOf(await this.#time.do(undefined)), this.#rows, { looksAhead });
    const value = await run(change, tx, this.#commits.commit);
    this.#tell(tx);
    return value;
  }

  async #withinTurn<T>(change: Work<T>): Promise<T> {
    const { tx, value } = await this.#database.transaction(
      taking,
      async (ask: Query, [{ now }]: readonly [{ now: number }]) => {
        const own = new Change(this.#timeOf(now), new VersionedRows(ask), { looksAhead: true });
        return { tx: own, value: await run(change, own, (steps) => makeOne(ask, steps)) };
      },
    );
    this.#tell(tx);
    return value;
  }

  #tell({ topics }: Change): void {
    if (topics.size > 0) this.#committed(topics);
  }

  #timeOf(databaseMs: number): number {
    this.#latest = Math.max(this.#latest, this.#clock?.now() ?? databaseMs);
    return this.#latest;
  }
}

const taking = `BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE signage.turn IN EXCLUSIVE MODE; SELECT signage.now_ms() AS now`;

/** Runs the change, then makes it. One that throws is believed if what it read was one state: that is looked at, too. */
async function run<T>(change: Work<T>, tx: Change, commit: Commit): Promise<T> {
  const outcome = await settled(change, tx);
  tx.end();
  if (tx.failure !== undefined) throw tx.failure;
  const steps = 'error' in outcome ? tx.checks() : tx.steps();
  if (needsTurn(steps) && !(await commit(steps))) throw new SerializationConflict(tx.beginning);
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

async function settled<T>(change: Work<T>, tx: Change): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await change(tx) };
  } catch (error) {
    return { error };
  }
}

/** One look-up alone is of one state, whatever came since. */
function needsTurn(steps: ReturnType<Change['steps']>): boolean {
  return steps.length > 1 || steps.some(({ what }) => what !== 'seen' && what !== 'counted');
}
