import type { Clock } from '../../../domain/clock.ts';
import type { Database } from '../connection/database.ts';
import { Batcher } from './batcher.ts';
import { lookUpLimits } from './versioned-rows.ts';

/**
 * The clock of the database, which all instances share. Between two readings it runs on at the pace
 * of this machine, whose own time does not matter.
 */
export class DatabaseClock {
  readonly #custom: Clock | undefined;
  readonly #readings: Batcher<undefined, number>;
  /** The last reading, and when it was made, by `performance.now`. */
  #readMs = 0;
  #atMs = 0;

  /** @param custom replaces the clock of the database */
  constructor(database: Pick<Database, 'query'>, custom: Clock | undefined) {
    this.#custom = custom;
    this.#readings = new Batcher(lookUpLimits, async (calls: readonly undefined[]) => {
      const nowMs = await this.#read(database);
      return calls.map(() => nowMs);
    });
  }

  /** Returns the time in milliseconds, from the last reading. */
  now(): number {
    if (this.#custom) return this.#custom.now();
    return Math.floor(this.#readMs + performance.now() - this.#atMs);
  }

  /** Returns how far the time is ahead of this machine's, in milliseconds. */
  aheadMs(): number {
    return this.#custom ? 0 : this.now() - Date.now();
  }

  /** Reads the time. Concurrent calls share a reading. */
  async read(): Promise<number> {
    return this.#custom ? this.#custom.now() : this.#readings.add(undefined);
  }

  /** Takes a time that a statement returned with other results. */
  learn(databaseMs: number): number {
    if (this.#custom) return this.#custom.now();
    this.#readMs = databaseMs;
    this.#atMs = performance.now();
    return databaseMs;
  }

  async #read(database: Pick<Database, 'query'>): Promise<number> {
    const [{ now }] = (await database.query('SELECT signage.now_ms() AS now')) as [{ now: number }];
    return this.learn(now);
  }
}
