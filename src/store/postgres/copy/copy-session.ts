import type { Client } from 'pg';
import { hourMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import { type Connect, connector } from '../connection/connect.ts';
import { parseDatabaseUrl } from '../connection/database-url.ts';
import { translated } from '../connection/errors.ts';
import { databaseLocked, holdAlone } from '../connection/instance-lock.ts';
import { type Query, send, sendAll } from '../connection/query.ts';
import { explained } from '../open.ts';

/** A sort of all roll-ups takes its time, and nobody waits for a lock of ours. */
export const patient = { poolSize: 2, statementTimeoutMs: hourMs, lockTimeoutMs: hourMs };

/** One connection to a database that nobody else uses: while it stands, no service starts on it. */
export class CopySession {
  readonly connect: Connect;
  readonly #client: Client;

  private constructor(connect: Connect, client: Client) {
    this.connect = connect;
    this.#client = client;
  }

  /** Throws `store_locked` when a service, or another copy, is connected; `store_unreachable`, `store_unusable`. */
  static async open(url: string): Promise<CopySession> {
    const address = parseDatabaseUrl(url);
    const connect = await connector(address);
    if (connect.isPooled)
      throw new SignageError(
        'invalid_option',
        'A copy needs the database itself: name it, not its pooler.',
      );
    return explained({ url, host: address.host }, async () => {
      const client = connect.client(patient);
      // What uses it is told.
      client.on('error', () => {});
      await client.connect();
      const session = new CopySession(connect, client);
      if (await holdAlone(client)) return session;
      await session.close();
      throw databaseLocked(publicUrl(url), 'a service, or by another copy');
    });
  }

  readonly ask: Query = (text, parameters) =>
    this.#told(send(this.#client, true, text, parameters));

  /** Statements without parameters, which are not prepared; answers the rows of the last. */
  askAll<R>(text: string): Promise<readonly R[]> {
    return this.#told(sendAll<R>(this.#client, text));
  }

  /** All of `work`, or nothing. The database may lose the last ones in a crash, and with them the note that they were made. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    await this.askAll('BEGIN; SET LOCAL synchronous_commit = off');
    try {
      const value = await work();
      await this.askAll('COMMIT');
      return value;
    } catch (error) {
      await this.askAll('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  async #told<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw translated(error);
    }
  }
}
