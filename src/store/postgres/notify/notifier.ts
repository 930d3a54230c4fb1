import { type Clock, secondMs, systemClock } from '../../../domain/clock.ts';
import type { ChangeTopics } from '../../change-topics.ts';
import type { Database } from '../connection/database.ts';

const againMs = secondMs;
/** More are not kept for later: who waits for them looks again when its time is over. */
const mostWaiting = 10_000;

/**
 * Tells watchers of changes: those of this instance at once, those of others by a notification. It is sent after the commit and not with it, and for many
 * changes together: commits that notify would wait for each other.
 */
export class Notifier {
  readonly #database: Database;
  readonly #topics: ChangeTopics;
  readonly #instance: string;
  readonly #clock: Clock = systemClock;
  #waiting = new Set<string>();
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
      if (this.#waiting.size < mostWaiting) this.#waiting.add(`${this.#instance}|${topic}`);
    }
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Waits until what there is to tell was told, or cannot be. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.size > 0) {
      const payloads = [...this.#waiting];
      this.#waiting = new Set();
      try {
        await this.#database.ask(
          `SELECT pg_notify('signage', payload) FROM unnest($1::text[]) AS payload`,
          [payloads],
        );
      } catch {
        if (this.#closed) return;
        for (const payload of payloads) this.#waiting.add(payload);
        await new Promise<void>((resolve) => void this.#clock.after(againMs, resolve));
      }
    }
  }
}
