import { hourMs } from '../../domain/clock.ts';
import type { MediaRecord, PlayerDatabase } from '../memory/database.ts';

/** Properties of a file that are known when its download begins. */
export interface MediaKind {
  url: string;
  type: string;
  etag: string | undefined;
}

const useNotedEveryMs = hourMs;
const partsOf = (url: string) => IDBKeyRange.bound([url, 0], [url, Number.POSITIVE_INFINITY]);

/**
 * Media files in IndexedDB. A file is a list of Blobs of a few MiB, so that an interrupted download
 * continues after the stored parts. The browser keeps Blobs on disk, and supports range access for
 * videos.
 */
export class KeptMedia {
  readonly #database: PlayerDatabase;

  constructor(database: PlayerDatabase) {
    this.#database = database;
  }

  async find(url: string): Promise<MediaRecord | undefined> {
    return (await this.#database.open()).get('media', url);
  }

  async all(): Promise<MediaRecord[]> {
    return (await this.#database.open()).getAll('media');
  }

  /**
   * Returns the content of a complete file, and records its last use. Returns `undefined` if the
   * file is incomplete or damaged.
   */
  async read(url: string, nowMs: number): Promise<Blob | undefined> {
    const record = await this.find(url);
    if (!record?.isComplete) return undefined;
    const blob = await this.contentOf(record);
    if (blob.size !== record.bytes) return undefined;
    // Each write wears out the flash memory, and a file may be shown every few seconds.
    if (Math.abs(nowMs - record.usedAtMs) > useNotedEveryMs) await this.#noteUse(url, nowMs);
    return blob;
  }

  async #noteUse(url: string, nowMs: number): Promise<void> {
    const transaction = (await this.#database.open()).transaction('media', 'readwrite');
    const record = await transaction.store.get(url);
    if (record) await transaction.store.put({ ...record, usedAtMs: nowMs });
    await transaction.done;
  }

  /** Returns the stored parts of a file as one Blob. */
  async contentOf({ url, type }: MediaRecord): Promise<Blob> {
    return new Blob(await (await this.#database.open()).getAll('parts', partsOf(url)), { type });
  }

  /** Begins a file. Deletes its stored parts. */
  async begin({ url, type, etag }: MediaKind, nowMs: number): Promise<MediaRecord> {
    const record = { url, type, etag, bytes: 0, parts: 0, isComplete: false, usedAtMs: nowMs };
    const database = await this.#database.open();
    const transaction = database.transaction(['media', 'parts'], 'readwrite');
    await Promise.all([
      transaction.objectStore('parts').delete(partsOf(url)),
      transaction.objectStore('media').put(record),
      transaction.done,
    ]);
    return record;
  }

  /** Appends a part. Rejects with `QuotaExceededError` if it does not fit. */
  async append(record: MediaRecord, part: Blob): Promise<MediaRecord> {
    const next = { ...record, bytes: record.bytes + part.size, parts: record.parts + 1 };
    const database = await this.#database.open();
    const transaction = database.transaction(['media', 'parts'], 'readwrite');
    await Promise.all([
      transaction.objectStore('parts').put(part, [record.url, record.parts]),
      transaction.objectStore('media').put(next),
      transaction.done,
    ]);
    return next;
  }

  async complete(record: MediaRecord): Promise<void> {
    await (await this.#database.open()).put('media', { ...record, isComplete: true });
  }

  async delete(url: string): Promise<void> {
    const database = await this.#database.open();
    const transaction = database.transaction(['media', 'parts'], 'readwrite');
    await Promise.all([
      transaction.objectStore('parts').delete(partsOf(url)),
      transaction.objectStore('media').delete(url),
      transaction.done,
    ]);
  }
}
