import type { Client } from 'pg';
import { type Clock, secondMs } from '../../../domain/clock.ts';
import type { ChangeTopics } from '../../change-topics.ts';
import type { Connect, DatabaseLimits } from '../connection/connect.ts';
import { destroy } from '../connection/destroy.ts';
import { databaseLocked, joinInstances } from '../connection/instance-lock.ts';

/** While nothing can be heard, watchers look for themselves this often; so often a new connection is tried, too. */
const pollMs = secondMs;
/** A connection that has died without a word is found out after this. */
const pingMs = 10 * secondMs;

/** Hears on a connection of its own what other instances have changed, and wakes who waits for it. */
export class Listener {
  readonly #connect: Connect;
  readonly #limits: DatabaseLimits;
  readonly #topics: ChangeTopics;
  readonly #instance: string;
  readonly #clock: Clock;
  /** Somebody copies the database. */
  isShutOut = false;
  #client: Client | undefined;
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

  /** Begins to listen, or goes on trying. */
  async start(): Promise<void> {
    if (this.#closed) return;
    if (this.#connect.isPooled) return this.#poll();
    const client = this.#connect.client(this.#limits);
    this.#client = client;
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    for (const ending of ['error', 'end'] as const) client.on(ending, () => this.#lose(client));
    try {
      await client.connect();
      await this.#inTime(this.#join(client));
      await this.#inTime(client.query('LISTEN signage'));
      // Whatever changed until now was not heard.
      this.#topics.allChanged();
      this.#schedule(pingMs, () => this.#ping(client));
    } catch {
      this.#lose(client);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    const client = this.#client;
    if (client) await this.#inTime(client.end()).catch(() => destroy(client));
  }

  /** While a copy runs, no instance may. */
  async #join(client: Client): Promise<void> {
    this.isShutOut = !(await joinInstances(client));
    if (this.isShutOut) throw databaseLocked('The database', 'signage store copy');
  }

  /** Where sessions are shared nothing can be heard. */
  async #poll(): Promise<void> {
    this.#topics.allChanged();
    this.#schedule(pollMs, () => this.#poll());
  }

  #hear(payload: string): void {
    const [instance, topic = ''] = payload.split('|', 2);
    if (instance !== this.#instance) this.#topics.changed(topic);
  }

  #lose(client: Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    destroy(client);
    this.#topics.allChanged();
    this.#schedule(pollMs, () => this.start());
  }

  async #ping(client: Client): Promise<void> {
    try {
      await this.#inTime(client.query('SELECT 1'));
      this.#schedule(pingMs, () => this.#ping(client));
    } catch {
      this.#lose(client);
    }
  }

  async #inTime(promise: Promise<unknown>): Promise<void> {
    let cancel = () => {};
    const tooLate = new Promise((_, reject) => {
      cancel = this.#clock.after(2 * secondMs, () => reject(new Error('no answer')));
    });
    await Promise.race([promise, tooLate]).finally(() => cancel());
  }

  #schedule(delayMs: number, work: () => Promise<void>): void {
    this.#cancel();
    if (!this.#closed) this.#cancel = this.#clock.after(delayMs, () => void work());
  }
}
