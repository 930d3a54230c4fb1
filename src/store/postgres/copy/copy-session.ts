import type { Client } from 'pg';
import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import { type Connect, connectTo, longTimeouts } from '../connection/connect.ts';
import { translateError } from '../connection/errors.ts';
import { databaseLocked, takeLock } from '../connection/instance-lock.ts';
import { type Query, send, sendAll } from '../connection/query.ts';

/** The exclusive connection of a copy. While it is open, no service starts on the database. */
export class CopySession {
  readonly connect: Connect;
  readonly #client: Client;

  private constructor(connect: Connect, client: Client) {
    this.connect = connect;
    this.#client = client;
  }

  /**
   * Connects to the database and takes the exclusive lock. Throws `store_locked` if a service or
   * another copy holds a lock, and `invalid_option` for a pooler. Throws `store_unreachable` or
   * `store_unusable` for other failures.
   */
  static open(url: string): Promise<CopySession> {
    return connectTo(url, async (connect) => {
      if (connect.isPooled)
        throw new SignageError(
          'invalid_option',
          'A copy needs a direct connection: give the URL of the database, not of its pooler.',
        );
      const client = connect.client(longTimeouts);
      // Queries report lost connections.
      client.on('error', () => {});
      await client.connect();
      const session = new CopySession(connect, client);
      if (await takeLock(client, 'exclusive')) return session;
      await session.close();
      throw databaseLocked(publicUrl(url), 'a service, or by another copy');
    });
  }

  readonly query: Query = (text, parameters) =>
    this.#translateErrors(send(this.#client, true, text, parameters));

  /** Runs unprepared statements without parameters. Returns the rows of the last statement. */
  queryAll<R>(text: string): Promise<readonly R[]> {
    return this.#translateErrors(sendAll<R>(this.#client, text));
  }

  /**
   * Runs `work` in a transaction with asynchronous commit. A crash of the database may lose the
   * last transactions, together with the progress recorded in them.
   */
  async change<T>(work: () => Promise<T>): Promise<T> {
    await this.queryAll('BEGIN; SET LOCAL synchronous_commit = off');
    try {
      const value = await work();
      await this.queryAll('COMMIT');
      return value;
    } catch (error) {
      await this.queryAll('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  async #translateErrors<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw translateError(error);
    }
  }
}
