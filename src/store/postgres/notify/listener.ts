import { Socket } from 'node:net';
import type { Client } from 'pg';
import { type Clock, secondMs } from '../../../domain/clock.ts';
import { withTimeout } from '../../../domain/timeout.ts';
import type { ChangeTopics } from '../../change-topics.ts';
import type { Connect, DatabaseLimits } from '../connection/connect.ts';
import { takeLock } from '../connection/instance-lock.ts';

/**
 * Interval at which watchers are woken and a reconnect is attempted while there is no connection.
 */
const pollMs = secondMs;
/** Interval of the pings that detect a broken connection. */
const pingMs = 10 * secondMs;
const timeoutMs = 2 * secondMs;
/**
 * Topics whose watchers are woken by polling. Watchers of other topics are TVs, which are too many
 * to poll for. They see a change of another instance when their wait is over.
 */
const polledTopics = /^(?:claims|codes|events|logins|notices)\//;

/** Listens on its own connection for changes made by other instances, and wakes the watchers. */
export class Listener {
  readonly #connect: Connect;
  readonly #limits: DatabaseLimits;
  readonly #topics: ChangeTopics;
  readonly #instance: string;
  readonly #clock: Clock;
  /** Whether a copy holds the exclusive lock of the database. */
  isLockedByCopy = false;
  #client: Client | undefined;
  #socket = new Socket();
  #cancel = () => {};
  #closed = false;

  constructor(
    connect: Connect,
    limits: DatabaseLimits,
    { topics, instance, clock }: { topics: ChangeTopics; instance: string; clock: Clock },
  ) {
    this.#connect = connect;
    this.#limits = limits;
    this.#topics = topics;
    this.#instance = instance;
    this.#clock = clock;
  }

  /** Starts listening. Retries if it fails. */
  async start(): Promise<void> {
    if (this.#closed) return;
    if (this.#connect.isPooled) return this.#poll();
    this.#socket = new Socket();
    const client = this.#connect.client(this.#limits, () => this.#socket);
    this.#client = client;
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    for (const ending of ['error', 'end'] as const)
      client.on(ending, () => this.#reconnect(client));
    try {
      await client.connect();
      this.isLockedByCopy = !(await this.#withTimeout(takeLock(client, 'shared')));
      if (this.isLockedByCopy) throw new Error('a copy is in progress');
      await this.#withTimeout(client.query('LISTEN signage'));
      // Changes made before LISTEN were missed.
      this.#topics.allChanged();
      this.#schedule(pingMs, () => this.#ping(client));
    } catch {
      this.#reconnect(client);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    // On a broken network, closing the connection times out.
    if (this.#client)
      await this.#withTimeout(this.#client.end()).catch(() => this.#socket.destroy());
  }

  /** Polls instead of listening, because LISTEN does not work with shared sessions. */
  async #poll(): Promise<void> {
    this.#topics.allChanged(polledTopics);
    this.#schedule(pollMs, () => this.#poll());
  }

  #receive(payload: string): void {
    const [instance, topic = ''] = payload.split('|', 2);
    if (instance !== this.#instance) this.#topics.changed(topic);
  }

  #reconnect(client: Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    this.#socket.destroy();
    this.#topics.allChanged(polledTopics);
    this.#schedule(pollMs, () => this.start());
  }

  async #ping(client: Client): Promise<void> {
    try {
      await this.#withTimeout(client.query('SELECT 1'));
      this.#schedule(pingMs, () => this.#ping(client));
    } catch {
      this.#reconnect(client);
    }
  }

  #withTimeout<T>(work: Promise<T>): Promise<T> {
    return withTimeout(this.#clock, timeoutMs, work);
  }

  #schedule(delayMs: number, work: () => Promise<void>): void {
    this.#cancel();
    if (!this.#closed) this.#cancel = this.#clock.after(delayMs, () => void work());
  }
}
