import type { MediaRecord, PlayerDatabase } from '../memory/database.ts';

/** What is known of a file when its download begins. */
export interface MediaKind {
  url: string;
  type: string;
  etag: string | undefined;
}

const partsOf = (url: string) => IDBKeyRange.bound([url, 0], [url, Number.POSITIVE_INFINITY]);

/**
 * Media files in IndexedDB. A file is a list of Blobs of a few MiB, so that an interrupted download
 * continues where it ended. The browser keeps Blobs on disk, and plays them with ranges.
 */
export class MediaStore {
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

  /** Returns the content of a complete file, and notes its use. */
  async read(url: string, nowMs: number): Promise<Blob | undefined> {
    const database = await this.#database.open();
    const transaction = database.transaction(['media', 'parts'], 'readwrite');
    const media = transaction.objectStore('media');
    const record = await media.get(url);
    if (!record?.isComplete) return undefined;
    const parts = await transaction.objectStore('parts').getAll(partsOf(url));
    await media.put({ ...record, usedAtMs: nowMs });
    await transaction.done;
    const blob = new Blob(parts, { type: record.type });
    return parts.length === record.parts && blob.size === record.bytes ? blob : undefined;
  }

  /** Begins a file. Deletes what is stored of it. */
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
