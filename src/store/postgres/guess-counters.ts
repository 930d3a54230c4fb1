import pLimit from 'p-limit';
import type { Clock } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { GuessCounterChange, GuessCountersOfEach } from '../store.ts';
import type { Database } from './connection/database.ts';
import { isSerializationConflict, unavailable } from './connection/errors.ts';
import type { Query } from './connection/query.ts';

/** At each of them somebody else's change came through. */
const mostTries = 200;
/** Look-ups at a time: anybody may register, and must not take the connections of TVs. */
const looksAtOnce = 2;

interface Kept {
  source: string;
  state: string;
}

/** Somebody else began to remember a source at the same moment. */
class Beaten extends Error {}

/** What sources of attempts have tried, shared by all instances. */
export class SharedGuessCounters {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  /** Changes of this instance take turns: waiting for each other in the database they would take all connections. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #looks = pLimit(looksAtOnce);

  /** `clock` is the store's time where that is not the database's. */
  constructor(database: Database, clock: Clock | undefined) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Looks first: most callers change nothing, and those neither lock nor wait. */
  async change<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> {
    const kept = await this.#looks(() =>
      this.#database.ask<Kept & { now: number }>(looking, [sources]),
    );
    const known = knownOf(sources, kept);
    const { attempts, result } = change(known, this.#clock?.now() ?? (kept[0]?.now as number));
    if (changedOf(sources, known, attempts).length === 0) return result;
    const turn = this.#turn.then(() => this.#change(sources, change));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #change<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> {
    for (let tries = 0; tries < mostTries; tries++) {
      try {
        return await this.#database.transaction<{ now: number }, T>(
          beginning,
          async (ask, [{ now }]) => {
            const kept = await ask<Kept>(locking, [sources]);
            const known = knownOf(sources, kept);
            const { attempts, result } = change(known, this.#clock?.now() ?? now);
            for (const [source, next] of changedOf(sources, known, attempts)) {
              await keep(ask, source, next, !kept.some((one) => one.source === source));
            }
            return result;
          },
        );
      } catch (error) {
        if (!(error instanceof Beaten || isSerializationConflict(error))) throw error;
      }
    }
    throw unavailable('Too many attempts at the same moment.');
  }

  /** Deletes what may be forgotten. */
  async purge(): Promise<void> {
    const parameters = [this.#clock?.now() ?? null];
    await this.#database.ask(
      'DELETE FROM signage.attempts WHERE forget_at < coalesce($1::bigint, signage.now_ms())',
      parameters,
    );
  }
}

function knownOf(
  sources: readonly string[],
  kept: readonly { source: string; state: string | null }[],
): GuessCountersOfEach {
  const states = new Map(kept.map(({ source, state }) => [source, state]));
  return sources.map((source) => {
    const state = states.get(source);
    return state == null ? undefined : (JSON.parse(state) as GuessCounter);
  });
}

type Change = [source: string, next: GuessCounter];

/** In the order in which rows are locked. */
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

// Locked in one order, so that two instances do not wait for each other; a row that changed meanwhile is read again. Nobody waits for the disk: what a crash
// of the database takes back is less than a second of attempts.
const beginning =
  'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; SELECT signage.now_ms() AS now';
const locking =
  'SELECT source, state FROM signage.attempts WHERE source = ANY ($1::text[]) ORDER BY source FOR UPDATE';
/** Also a row for those that are not known, for its time. */
const looking = `SELECT s.source, a.state, signage.now_ms() AS now FROM unnest($1::text[]) AS s (source)
  LEFT JOIN signage.attempts a ON a.source = s.source COLLATE "C"`;

async function keep(ask: Query, source: string, next: GuessCounter, isNew: boolean): Promise<void> {
  const parameters = [source, JSON.stringify(next), next.forgetAt];
  const done = await ask(
    isNew
      ? adding
      : 'UPDATE signage.attempts SET state = $2, forget_at = $3 WHERE source = $1 RETURNING 1',
    parameters,
  );
  if (done.length !== 1) throw new Beaten();
}

const adding =
  'INSERT INTO signage.attempts (source, state, forget_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1';
