import pLimit from 'p-limit';
import { type Clock, dayMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { GuessCounterChange, GuessCountersOfEach } from '../store.ts';
import type { Database } from './connection/database.ts';

/**
 * Maximum number of concurrent look-ups. It is low, because anyone can send registrations. They
 * must not use up the connections that TVs need.
 */
const concurrentLookUps = 2;

interface StoredCounter {
  source: string;
  /** `null` if no counter is stored. */
  state: string | null;
}

/** Guess counters by source, shared by all instances. */
export class SharedGuessCounters {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  readonly #lookUpLimit = pLimit(concurrentLookUps);
  /**
   * Runs the changes of this instance one at a time. If they waited for each other in the database,
   * they would occupy all connections.
   */
  readonly #changeLimit = pLimit(1);

  /** @param clock the clock of the store. `undefined`: the clock of the database */
  constructor(database: Database, clock: Clock | undefined) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Reads without a lock first. Most callers change nothing, and then need no lock. */
  async change<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> {
    const stored = await this.#lookUpLimit(() =>
      this.#database.query<StoredCounter & { now: number }>(selectCounters, [sources]),
    );
    const known = knownOf(sources, stored);
    const { attempts, result } = change(known, this.#clock?.now() ?? (stored[0]?.now as number));
    if (changedOf(sources, known, attempts).length === 0) return result;
    return this.#changeLimit(() => this.#change(sources, change));
  }

  #change<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> {
    return this.#database.transaction<{ now: number }, T>(begin, async (query, [{ now }]) => {
      const known = knownOf(sources, await query<StoredCounter>(lockCounters, [sources]));
      const { attempts, result } = change(known, this.#clock?.now() ?? now);
      await query(updateCounters, [JSON.stringify(changedOf(sources, known, attempts))]);
      return result;
    });
  }

  async purge(): Promise<void> {
    await this.#database.query(deleteExpired, [this.#clock?.now() ?? null]);
  }
}

function knownOf(
  sources: readonly string[],
  stored: readonly StoredCounter[],
): GuessCountersOfEach {
  const states = new Map(stored.map(({ source, state }) => [source, state]));
  return sources.map((source) => {
    const state = states.get(source);
    return state == null ? undefined : (JSON.parse(state) as GuessCounter);
  });
}

function changedOf(
  sources: readonly string[],
  known: GuessCountersOfEach,
  attempts: GuessCountersOfEach,
): object[] {
  return sources.flatMap((source, place) => {
    const next = attempts[place];
    return next === undefined || next === known[place]
      ? []
      : [{ source, state: JSON.stringify(next), forget_at: next.forgetAt }];
  });
}

// Asynchronous commit: a crash of the database loses the guesses of less than a second.
const begin =
  'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; SELECT signage.now_ms() AS now';
/** Omits the state of placeholders, whose `forget_at` is 0. */
const state = 'CASE WHEN a.forget_at > 0 THEN a.state END AS state';
/** Returns a row for unknown sources, too, because each row contains the time. */
const selectCounters = `SELECT s.source, ${state}, signage.now_ms() AS now FROM unnest($1::text[]) AS s (source)
  LEFT JOIN signage.attempts a ON a.source = s.source COLLATE "C"`;
/**
 * Locks the rows in a fixed order to avoid deadlocks. Inserts placeholders for unknown sources, so
 * that concurrent changes of the same sources wait for each other. The next purge deletes unused
 * placeholders.
 */
const lockCounters = `INSERT INTO signage.attempts AS a (source, state, forget_at)
  SELECT DISTINCT source, '{"times":[],"waitUntil":0,"waitMs":0,"forgetAt":0}', 0 FROM unnest($1::text[]) AS s (source) ORDER BY source
  ON CONFLICT (source) DO UPDATE SET state = a.state
  RETURNING a.source, ${state}`;
const updateCounters = `UPDATE signage.attempts a SET state = n.state, forget_at = n.forget_at
  FROM json_to_recordset($1::text::json) AS n (source text, state text, forget_at bigint) WHERE a.source = n.source`;
/**
 * A counter that ends later than in two days is from a clock that ran fast. Skips locked rows:
 * waiting for them in another order than `lockCounters` could deadlock.
 */
const deleteExpired = `DELETE FROM signage.attempts WHERE source IN (
  SELECT source FROM signage.attempts, (SELECT coalesce($1::bigint, signage.now_ms()) AS now) t
    WHERE forget_at < now OR forget_at > now + ${2 * dayMs}
  FOR UPDATE OF attempts SKIP LOCKED)`;
