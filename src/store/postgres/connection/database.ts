import { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { type Clock, secondMs, systemClock } from '../../../domain/clock.ts';
import { withTimeout } from '../../../domain/timeout.ts';
import { unavailable } from '../../unavailable.ts';
import type { Connect, DatabaseLimits } from './connect.ts';
import { isConnectionLost, isSerializationConflict, translateError } from './errors.ts';
import { type Query, send, sendAll } from './query.ts';

const probeTimeoutMs = 2 * secondMs;
const probeIntervalMs = secondMs / 2;
const closeTimeoutMs = 2 * secondMs;

/**
 * Connection pool with a circuit breaker. While the database is down, queries fail immediately, and
 * a probe runs twice a second. Throws `unavailable`; serialization conflicts
 * (`isSerializationConflict`) are thrown unchanged.
 */
export class Database {
  readonly #pool: Pool;
  readonly #prepared: boolean;
  /** Network timeouts use real time, even if the store has another clock. */
  readonly #clock: Clock = systemClock;
  readonly #sockets = new Set<Socket>();
  /** Reason why the database is considered down. `undefined` while it is considered up. */
  #down: unknown;
  readonly #onReachable: (isReachable: boolean, reason?: unknown) => void;
  #firstProbe = Promise.resolve();
  #closed = false;

  constructor(
    connect: Connect,
    limits: DatabaseLimits,
    onReachable: (isReachable: boolean, reason?: unknown) => void = () => {},
  ) {
    this.#onReachable = onReachable;
    this.#prepared = !connect.isPooled;
    this.#pool = connect.pool(limits, () => {
      const socket = new Socket();
      this.#sockets.add(socket);
      return socket.once('close', () => this.#sockets.delete(socket));
    });
    // Queries report lost connections. Losing an idle connection does not matter.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Runs one statement outside a transaction. */
  readonly query: Query = <R>(text: string, parameters?: readonly unknown[]) =>
    this.#use((client) => send<R>(client, this.#prepared, text, parameters));

  /** Runs one statement with a shorter timeout. */
  queryWithin<R>(limitMs: number, text: string): Promise<readonly R[]> {
    return this.#use((client) =>
      withTimeout(this.#clock, limitMs, send<R>(client, this.#prepared, text)),
    );
  }

  /**
   * Runs a transaction. `begin` is sent unchanged and may contain several statements. `body` gets
   * the rows of the last statement.
   */
  transaction<R, T>(
    begin: string,
    body: (query: Query, begun: readonly [R]) => Promise<T>,
  ): Promise<T> {
    return this.#use(async (client) => {
      let failure: unknown;
      const query: Query = <A>(text: string, parameters?: readonly unknown[]) =>
        send<A>(client, this.#prepared, text, parameters).catch((error: unknown) => {
          failure ??= error;
          throw error;
        });
      try {
        const value = await body(query, (await sendAll<R>(client, begin)) as readonly [R]);
        // After a failed statement the transaction cannot be committed, even if `body` caught the
        // error.
        if (failure !== undefined) throw failure;
        await sendAll(client, 'COMMIT');
        return value;
      } catch (error) {
        if (!isConnectionLost(error)) await sendAll(client, 'ROLLBACK');
        throw error;
      }
    });
  }

  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    await this.requireReachable();
    try {
      return await this.#take(work);
    } catch (error) {
      if (this.#closed) throw closedStore();
      if (isConnectionLost(error)) this.#markDown(error);
      throw isSerializationConflict(error) ? error : translateError(error);
    }
  }

  async #take<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      isLost = isConnectionLost(error);
      throw error;
    } finally {
      client.release(isLost);
    }
  }

  /**
   * Throws if the store is closed or the database is down. After a lost connection, a first probe
   * decides whether the database is down.
   */
  async requireReachable(): Promise<void> {
    if (this.#closed) throw closedStore();
    if (this.#down !== undefined) await this.#firstProbe;
    if (this.#down !== undefined)
      throw unavailable('The database cannot be reached right now.', this.#down);
  }

  #markDown(error: unknown): void {
    if (this.#down !== undefined || this.#closed) return;
    this.#down = error;
    this.#onReachable(false, error);
    this.#firstProbe = this.#probe();
    void this.#probeUntilUp();
  }

  async #probeUntilUp(): Promise<void> {
    await this.#firstProbe;
    while (this.#down !== undefined && !this.#closed) {
      await new Promise<void>((resolve) => void this.#clock.after(probeIntervalMs, resolve));
      await this.#probe();
    }
  }

  async #probe(): Promise<void> {
    try {
      await this.#take((client) =>
        withTimeout(this.#clock, probeTimeoutMs, send(client, this.#prepared, 'SELECT 1')),
      );
      this.#down = undefined;
      this.#onReachable(true);
    } catch (error) {
      this.#down = error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await withTimeout(this.#clock, closeTimeoutMs, this.#pool.end()).catch(() => {
      // On a broken network, closing the connections times out.
      for (const socket of this.#sockets) socket.destroy();
    });
  }
}

function closedStore() {
  return unavailable('The store is closed.');
}
