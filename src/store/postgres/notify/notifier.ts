import { type Clock, secondMs, systemClock } from '../../../domain/clock.ts';
import type { ChangeTopics } from '../../change-topics.ts';
import type { Database } from '../connection/database.ts';

const retryMs = secondMs;
/**
 * Maximum number of queued notifications. Further ones are dropped. Watchers on other instances
 * then find the change when their wait times out.
 */
const maxQueued = 10_000;

/**
 * Notifies watchers of changes. Wakes the watchers of this instance at once, and the watchers of
 * other instances with NOTIFY. NOTIFY is sent after the commit, for many changes together, because
 * transactions with NOTIFY commit one at a time.
 */
export class Notifier {
  readonly #database: Database;
  readonly #topics: ChangeTopics;
  readonly #instance: string;
  readonly #clock: Clock = systemClock;
  #queued = new Set<string>();
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(database: Database, topics: ChangeTopics, instance: string) {
    this.#database = database;
    this.#topics = topics;
    this.#instance = instance;
  }

  changed(topics: ReadonlySet<string>): void {
    for (const topic of topics) {
      this.#topics.changed(topic);
      if (this.#queued.size < maxQueued) this.#queued.add(`${this.#instance}|${topic}`);
    }
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Sends the queued notifications; gives up at the first error. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#queued.size > 0) {
      const payloads = [...this.#queued];
      this.#queued = new Set();
      try {
        await this.#database.query(
          `SELECT pg_notify('signage', payload) FROM unnest($1::text[]) AS payload`,
          [payloads],
        );
      } catch {
        if (this.#closed) return;
        for (const payload of payloads) this.#queued.add(payload);
        await new Promise<void>((resolve) => void this.#clock.after(retryMs, resolve));
      }
    }
  }
}
