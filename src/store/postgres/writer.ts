import pLimit, { type LimitFunction } from 'p-limit';
import { type Clock, type Random, systemClock } from '../../domain/clock.ts';
import type { Tx } from '../store.ts';
import type { Database } from './database.ts';
import { isClash, unavailable } from './failure.ts';
import { Transaction } from './transaction.ts';

/** After so many clashes a change has the database's turn to itself. */
const sharedTries = 6;
const mostTries = 12;
const pauseMs = 8;

/**
 * Runs changes, as serializable transactions: the database sees to it that they behave as if they ran one after another, and undoes one that cannot. That one
 * is run again, which the others' changes then are before. All changes hold the table `turn` shared; one that clashed again and again takes it for itself,
 * and so comes through. (LOCK takes no snapshot: what came before the lock is seen. Neither mode minds pg_dump's.)
 */
export class Writer {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  readonly #random: Random;
  readonly #limit: LimitFunction;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #committed: (topics: ReadonlySet<string>) => void;
  #latest = 0;

  /** `clock` is the store's time where that is not the database's; `committed` hears of what watchers may wait for. */
  constructor(
    database: Database,
    {
      clock,
      random,
      width,
      committed,
    }: { clock: Clock | undefined; random: Random; width: number; committed: (topics: ReadonlySet<string>) => void },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#limit = pLimit(width);
    this.#committed = committed;
  }

  write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    const writing = this.#limit(() => this.#tryOn(change)).finally(() => this.#underWay.delete(writing));
    this.#underWay.add(writing);
    return writing;
  }

  /** Waits until no change is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #tryOn<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#attempt(change, tries > sharedTries);
      } catch (error) {
        if (!isClash(error)) throw error;
        if (tries === mostTries) throw unavailable('Too many changes at the same moment; nothing was changed.', error);
      }
      const [chance = 0] = this.#random(1);
      await new Promise<void>((resolve) => void systemClock.after((pauseMs * tries * chance) / 256, resolve));
    }
  }

  async #attempt<T>(change: (tx: Tx) => Promise<T>, alone: boolean): Promise<T> {
    const { value, topics } = await this.#database.transaction<{ now: number }, { value: T; topics: ReadonlySet<string> }>(
      beginning(alone),
      async (ask, [{ now }]) => {
        const tx = new Transaction(this.#timeOf(now), ask);
        try {
          return { value: await change(tx), topics: tx.topics };
        } finally {
          await tx.end();
        }
      },
    );
    if (topics.size > 0) this.#committed(topics);
    return value;
  }

  #timeOf(databaseMs: number): number {
    this.#latest = Math.max(this.#latest, this.#clock?.now() ?? databaseMs);
    return this.#latest;
  }
}

/** Takes the turn; answers the database's time. Index scans throughout: a scan of a whole table would clash with every change of it. */
function beginning(alone: boolean): string {
  return `BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL enable_seqscan = off;
    LOCK TABLE signage.turn IN ${alone ? 'EXCLUSIVE' : 'ROW SHARE'} MODE; SELECT signage.now_ms() AS now`;
}
