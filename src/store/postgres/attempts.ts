import type { Attempts } from '../../domain/records.ts';
import type { AttemptChange } from '../store.ts';
import type { Database } from './database.ts';
import { unavailable } from './failure.ts';

/** At each of them somebody else's change came through. */
const mostTries = 200;

/**
 * What sources of attempts have tried, shared by all instances. A change is kept if nobody has made one since it looked, and is made anew otherwise.
 */
export class SharedAttempts {
  readonly #database: Database;
  /** Those of this instance take turns: they would only get in each other's way. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(database: Database) {
    this.#database = database;
  }

  async change<T>(source: string, change: AttemptChange<T>): Promise<T> {
    const turn = (this.#turns.get(source) ?? Promise.resolve()).then(() => this.#change(source, change));
    const over = turn.catch(() => undefined);
    this.#turns.set(source, over);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(source) === over) this.#turns.delete(source);
    }
  }

  async #change<T>(source: string, change: AttemptChange<T>): Promise<T> {
    for (let tries = 0; tries < mostTries; tries++) {
      const [kept] = await this.#database.ask<{ state: string }>('SELECT state FROM signage.attempts WHERE source = $1', [source]);
      const known = kept && (JSON.parse(kept.state) as Attempts);
      const { attempts, result } = change(known);
      if (attempts === undefined || attempts === known || (await this.#keep(source, kept?.state, attempts))) return result;
    }
    throw unavailable('Too many attempts at the same moment.');
  }

  async #keep(source: string, before: string | undefined, attempts: Attempts): Promise<boolean> {
    const state = JSON.stringify(attempts);
    const done =
      before === undefined
        ? await this.#database.ask(
            'INSERT INTO signage.attempts (source, state, forget_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1',
            [source, state, attempts.forgetAt],
          )
        : await this.#database.ask('UPDATE signage.attempts SET state = $2, forget_at = $3 WHERE source = $1 AND state = $4 RETURNING 1', [
            ...[source, state, attempts.forgetAt, before],
          ]);
    return done.length === 1;
  }

  /** Deletes what may be forgotten. */
  async purge(nowMs: number): Promise<void> {
    await this.#database.ask('DELETE FROM signage.attempts WHERE forget_at < $1', [nowMs]);
  }
}
