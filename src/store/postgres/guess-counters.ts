import pLimit from 'p-limit';
import type { Clock } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { GuessCounterChange, GuessCountersOfEach } from '../store.ts';
import type { Database } from './connection/database.ts';
import { isSerializationConflict, unavailable } from './connection/errors.ts';
import type { Query } from './connection/query.ts';

/** Maximum number of attempts. Each failed one means that a concurrent change succeeded. */
const maxAttempts = 200;
/** Concurrent look-ups. Anyone may register, and must not use up the connections that TVs need. */
const concurrentLookUps = 2;

interface StoredCounter {
  source: string;
  state: string;
}

/** Another instance inserted the same source concurrently. */
class InsertConflict extends Error {}

/** Guess counters by source, shared by all instances. */
export class SharedGuessCounters {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  /**
   * Serializes the changes of this instance. Waiting for each other in the database, they would
   * occupy all connections.
   */
  #lastChange: Promise<unknown> = Promise.resolve();
  readonly #lookUpLimit = pLimit(concurrentLookUps);

  /** @param clock the store's time; `undefined` for the database's */
  constructor(database: Database, clock: Clock | undefined) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Reads first: most callers change nothing, and then need neither lock nor wait. */
  async change<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> {
    const stored = await this.#lookUpLimit(() =>
      this.#database.query<StoredCounter & { now: number }>(selectCounters, [sources]),
    );
    const known = knownOf(sources, stored);
    const { attempts, result } = change(known, this.#clock?.now() ?? (stored[0]?.now as number));
    if (changedOf(sources, known, attempts).length === 0) return result;
    const changing = this.#lastChange.then(() => this.#change(sources, change));
    this.#lastChange = changing.catch(() => undefined);
    return changing;
  }

  async #change<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      try {
        return await this.#database.transaction<{ now: number }, T>(
          begin,
          async (query, [{ now }]) => {
            const stored = await query<StoredCounter>(selectForUpdate, [sources]);
            const known = knownOf(sources, stored);
            const { attempts, result } = change(known, this.#clock?.now() ?? now);
            for (const [source, next] of changedOf(sources, known, attempts)) {
              await storeCounter(query, source, next, !stored.some((one) => one.source === source));
            }
            return result;
          },
        );
      } catch (error) {
        if (!(error instanceof InsertConflict || isSerializationConflict(error))) throw error;
      }
    }
    throw unavailable('Too many concurrent attempts.');
  }

  /** Deletes expired counters. */
  async purge(): Promise<void> {
    const parameters = [this.#clock?.now() ?? null];
    await this.#database.query(
      'DELETE FROM signage.attempts WHERE forget_at < coalesce($1::bigint, signage.now_ms())',
      parameters,
    );
  }
}

function knownOf(
  sources: readonly string[],
  stored: readonly { source: string; state: string | null }[],
): GuessCountersOfEach {
  const states = new Map(stored.map(({ source, state }) => [source, state]));
  return sources.map((source) => {
    const state = states.get(source);
    return state == null ? undefined : (JSON.parse(state) as GuessCounter);
  });
}

type Change = [source: string, next: GuessCounter];

/** Returns the changes in the order in which rows are locked. */
function changedOf(
  sources: readonly string[],
  known: GuessCountersOfEach,
  attempts: GuessCountersOfEach,
): Change[] {
  const changes = sources.flatMap((source, place): Change[] => {
    const next = attempts[place];
    return next === undefined || next === known[place] ? [] : [[source, next]];
  });
  return changes.sort(([one], [other]) => (one < other ? -1 : 1));
}

// Rows are locked in a fixed order to avoid deadlocks. Asynchronous commit: a crash of the database
// loses less than a second of attempts.
const begin =
  'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; SELECT signage.now_ms() AS now';
const selectForUpdate =
  'SELECT source, state FROM signage.attempts WHERE source = ANY ($1::text[]) ORDER BY source FOR UPDATE';
/** Returns a row for unknown sources, too, because it carries the time. */
const selectCounters = `SELECT s.source, a.state, signage.now_ms() AS now FROM unnest($1::text[]) AS s (source)
  LEFT JOIN signage.attempts a ON a.source = s.source COLLATE "C"`;

async function storeCounter(
  query: Query,
  source: string,
  next: GuessCounter,
  isNew: boolean,
): Promise<void> {
  const parameters = [source, JSON.stringify(next), next.forgetAt];
  const done = await query(
    isNew
      ? insertCounter
      : 'UPDATE signage.attempts SET state = $2, forget_at = $3 WHERE source = $1 RETURNING 1',
    parameters,
  );
  if (done.length !== 1) throw new InsertConflict();
}

const insertCounter =
  'INSERT INTO signage.attempts (source, state, forget_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1';
