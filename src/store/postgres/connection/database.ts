import type { ClientBase, Pool, PoolClient } from 'pg';
import { type Clock, secondMs, systemClock } from '../../../domain/clock.ts';
import type { Connect, DatabaseLimits } from './connect.ts';
import { destroy } from './destroy.ts';
import {
  isConnectionLost,
  isSerializationConflict,
  QueryTimeout,
  translated,
  unavailable,
} from './errors.ts';
import { type Query, send, sendAll } from './query.ts';

/** Beyond the server's own time-out: an answer that has not come by then does not come, for the network or the server has gone. */
const patienceMs = 2 * secondMs;
const lookMs = 2 * secondMs;
const lookEveryMs = secondMs / 2;
const goodbyeMs = 2 * secondMs;

/**
 * The pool of connections. Nothing waits for ever: while the database is away, callers are refused at once, and it is looked for twice a second.
 * Throws `unavailable`, and clashes (`isSerializationConflict`) as they are.
 */
export class Database {
  readonly #pool: Pool;
  readonly #patienceMs: number;
  readonly #prepared: boolean;
  /** Networks keep real time, whatever clock the store has. */
  readonly #clock: Clock = systemClock;
  readonly #clients = new Set<ClientBase>();
  /** Why the database counts as away. */
  #down: unknown;
  #firstLook = Promise.resolve();
  #closed = false;

  constructor(connect: Connect, limits: DatabaseLimits) {
    this.#patienceMs = limits.statementTimeoutMs + patienceMs;
    this.#prepared = !connect.isPooled;
    this.#pool = connect.pool(limits);
    // A connection that is lost is told to whoever uses it; one that nobody uses is none that anybody misses.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      client.on('error', () => {});
      this.#clients.add(client);
    });
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  /** One statement, by itself. */
  readonly ask: Query = <R>(text: string, parameters?: readonly unknown[]) =>
    this.#use((client) => this.#within(send<R>(client, this.#prepared, text, parameters)));

  /** The same, with less patience. */
  askWithin<R>(limitMs: number, text: string): Promise<readonly R[]> {
    return this.#use((client) => this.#within(send<R>(client, this.#prepared, text), limitMs));
  }

  /** A transaction. `begin` is sent as it is, and may be several statements; `body` is handed the row that the last of them answers. */
  transaction<R, T>(
    begin: string,
    body: (ask: Query, begun: readonly [R]) => Promise<T>,
  ): Promise<T> {
    return this.#use(async (client) => {
      let failure: unknown;
      const ask: Query = <A>(text: string, parameters?: readonly unknown[]) =>
        this.#within(send<A>(client, this.#prepared, text, parameters)).catch((error: unknown) => {
          failure ??= error;
          throw error;
        });
      try {
        const value = await body(
          ask,
          (await this.#within(sendAll<R>(client, begin))) as readonly [R],
        );
        // After a failure nothing can be committed, whatever the body made of it.
        if (failure !== undefined) throw failure;
        await this.#within(sendAll(client, 'COMMIT'));
        return value;
      } catch (error) {
        if (!isConnectionLost(error)) await this.#within(sendAll(client, 'ROLLBACK'));
        throw error;
      }
    });
  }

  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    await this.standing();
    try {
      return await this.#take(work);
    } catch (error) {
      if (this.#closed) throw closedStore();
      if (isConnectionLost(error)) this.#lose(error);
      throw isSerializationConflict(error) ? error : translated(error);
    }
  }

  async #take<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let gone = false;
    try {
      return await work(client);
    } catch (error) {
      gone = isConnectionLost(error);
      throw error;
    } finally {
      client.release(gone);
    }
  }

  async #within<T>(promise: Promise<T>, limitMs = this.#patienceMs): Promise<T> {
    let cancel = () => {};
    const tooLate = new Promise<'too late'>((resolve) => {
      cancel = this.#clock.after(limitMs, () => resolve('too late'));
    });
    try {
      const first = await Promise.race([promise.then((value) => ({ value })), tooLate]);
      if (first !== 'too late') return first.value;
    } finally {
      cancel();
    }
    throw new QueryTimeout('The database does not answer.');
  }

  /** Throws when there is no use in asking: the store is closed, or the database away. One lost connection is no reason: a first look tells. */
  async standing(): Promise<void> {
    if (this.#closed) throw closedStore();
    if (this.#down !== undefined) await this.#firstLook;
    if (this.#down !== undefined)
      throw unavailable('The database cannot be reached right now.', this.#down);
  }

  #lose(error: unknown): void {
    if (this.#down !== undefined || this.#closed) return;
    this.#down = error;
    this.#firstLook = this.#look();
    void this.#lookOn();
  }

  async #lookOn(): Promise<void> {
    await this.#firstLook;
    while (this.#down !== undefined && !this.#closed) {
      await new Promise<void>((resolve) => void this.#clock.after(lookEveryMs, resolve));
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#take((client) => this.#within(send(client, this.#prepared, 'SELECT 1'), lookMs));
      this.#down = undefined;
    } catch (error) {
      this.#down = error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const ended = this.#pool.end();
    await this.#within(ended, goodbyeMs).catch(() => {
      // A network that is gone takes no goodbye.
      for (const client of this.#clients) destroy(client);
    });
  }
}

function closedStore() {
  return unavailable('The store is closed.');
}
