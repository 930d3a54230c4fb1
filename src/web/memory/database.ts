import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { EventInput } from '../../client/entities.ts';
import type { PlayerHead } from '../../player/state.ts';

/** One media file. Its bytes are in the store `parts`. */
export interface MediaRecord {
  url: string;
  /** The `Content-Type` of the response. */
  type: string;
  /**
   * Strong `ETag` of the response, for `If-Range`. `undefined` if the response had no strong
   * `ETag`.
   */
  etag: string | undefined;
  /** Number of bytes and parts stored so far. */
  bytes: number;
  parts: number;
  isComplete: boolean;
  /**
   * Time at which the file was last prepared for the screen, in Unix epoch milliseconds. Up to an
   * hour too early.
   */
  usedAtMs: number;
}

export interface PlayerSchema extends DBSchema {
  /** Members of the saved state except its queue, by name. */
  head: { key: keyof PlayerHead; value: PlayerHead[keyof PlayerHead] };
  /** Events of the queue, by position. */
  events: { key: number; value: EventInput };
  media: { key: string; value: MediaRecord };
  parts: { key: [url: string, part: number]; value: Blob };
  /** The time of the last `noteAlive`, in Unix epoch milliseconds. */
  alive: { key: 'atMs'; value: number };
}

const name = 'signage-player';
const version = 1;

/** The IndexedDB database of the player. Reopens the database after the browser has closed it. */
export class PlayerDatabase {
  #opened: Promise<IDBPDatabase<PlayerSchema>> | undefined;

  /** Rejects with the `DOMException` of the browser. */
  open(): Promise<IDBPDatabase<PlayerSchema>> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Writes to the database, so that a watchdog outside the browser sees that the page runs. */
  async noteAlive(nowMs: number): Promise<void> {
    await (await this.open()).put('alive', nowMs, 'atMs');
  }

  async #open(): Promise<IDBPDatabase<PlayerSchema>> {
    const reset = () => {
      this.#opened = undefined;
    };
    try {
      return await openDB<PlayerSchema>(name, version, {
        upgrade(database) {
          database.createObjectStore('head');
          database.createObjectStore('events');
          database.createObjectStore('media', { keyPath: 'url' });
          database.createObjectStore('parts');
          database.createObjectStore('alive');
        },
        terminated: reset,
      });
    } catch (error) {
      reset();
      throw error;
    }
  }
}

/** Returns whether a write failed because the storage quota of the origin is used up. */
export const isQuotaExceeded = (error: unknown): boolean =>
  (error as { name?: unknown } | null)?.name === 'QuotaExceededError';
