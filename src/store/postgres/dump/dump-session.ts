import type { Client } from 'pg';
import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import { type Connect, connectTo, longTimeouts } from '../connection/connect.ts';
import { translateError } from '../connection/errors.ts';
import { databaseLocked, takeLock } from '../connection/instance-lock.ts';
import { type Query, send, sendAll } from '../connection/query.ts';

/** The connection of a dump or restore. It runs one transaction, which `close` rolls back. */
export class DumpSession {
  readonly connect: Connect;
  readonly #client: Client;

  private constructor(connect: Connect, client: Client) {
    this.connect = connect;
    this.#client = client;
  }

  static async open(connect: Connect): Promise<DumpSession> {
    const client = connect.client(longTimeouts);
    // Queries report lost connections.
    client.on('error', () => {});
    await client.connect();
    return new DumpSession(connect, client);
  }

  /**
   * Opens a database on which no service runs. While the session is open, none starts. Throws
   * `store_locked` if a service or another session holds a lock, and `invalid_option` for a pooler.
   * Throws `store_unreachable` or `store_unusable` for other failures.
   */
  static openAlone(url: string): Promise<DumpSession> {
    return connectTo(url, async (connect) => {
      if (connect.isPooled)
        throw new SignageError(
          'invalid_option',
          'This needs a direct connection: give the URL of the database, not of its pooler.',
        );
      const session = await DumpSession.open(connect);
      if (await takeLock(session.#client, 'exclusive')) return session;
      await session.close();
      throw databaseLocked(publicUrl(url), 'a service, or by a copy or restore');
    });
  }

  readonly query: Query = (text, parameters) =>
    this.#translateErrors(send(this.#client, !this.connect.isPooled, text, parameters));

  /** Runs unprepared statements without parameters. Returns the rows of the last statement. */
  queryAll<R>(text: string): Promise<readonly R[]> {
    return this.#translateErrors(sendAll<R>(this.#client, text));
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
