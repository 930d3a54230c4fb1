import { invalid, SignageError } from '../../domain/error.ts';
import type { MediaStore } from '../../media/media-store.ts';

/** A part of a file that its client sends in parts. */
export interface Part {
  offset: number;
  /** The size of the whole file. */
  size: number;
  length: number;
}

/** An upload in parts that has not ended. */
export interface PendingUpload {
  /** The size of the whole file, as its parts state it. */
  size: number;
  /** Number of bytes received, from the start of the file without a gap. */
  received: number;
  /** Keys of the parts that make up the received bytes, in order. */
  keys: string[];
}

/** Smaller parts would make too many files. The last part may be smaller. */
const minPartBytes = 256 * 1024;
const maxPending = 64;

const folderOf = (tenantId: string) => `parts/${tenantId}/`;
const partForm = /^parts\/[^/]+\/([0-9a-f]{64})-(\d+)\/(\d+)-(\d+)$/;

/** Parts of unfinished uploads, in the media store, where any instance finds them. */
export class MediaParts {
  readonly #files: MediaStore;

  constructor(files: MediaStore) {
    this.#files = files;
  }

  /** Returns the upload of a file, or `undefined` if no part of it has arrived. */
  async find(tenantId: string, id: string): Promise<PendingUpload | undefined> {
    const lengths = new Map<number, { key: string; length: number }>();
    let size: number | undefined;
    for await (const { key, ...part } of this.#list(tenantId)) {
      if (part.id !== id) continue;
      size ??= part.size;
      if (part.size === size) lengths.set(part.offset, { key, length: part.length });
    }
    if (size === undefined) return undefined;
    const upload: PendingUpload = { size, received: 0, keys: [] };
    for (let part = lengths.get(0); part; part = lengths.get(upload.received)) {
      upload.keys.push(part.key);
      upload.received += part.length;
    }
    return upload;
  }

  /** Returns the sizes of all uploads of a tenant that have not ended, by the id of the file. */
  async sizes(tenantId: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for await (const { id, size } of this.#list(tenantId)) sizes.set(id, size);
    return sizes;
  }

  /**
   * Stores a part. Throws `invalid_request` for a part that does not fit its file, and
   * `media_offset` unless it begins where the received bytes end. An upload with another size
   * starts again.
   */
  async add(
    tenantId: string,
    id: string,
    part: Part,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    checkPart(part);
    const { offset, size, length } = part;
    const found = await this.find(tenantId, id);
    const isOther = found !== undefined && found.size !== size;
    const received = found && !isOther ? found.received : 0;
    if (offset !== received)
      throw new SignageError(
        'media_offset',
        `The service has received ${received} bytes of this file: go on from there.`,
        { received },
      );
    if (isOther) await this.discard(tenantId, id);
    const key = `${folderOf(tenantId)}${id}-${size}/${offset}-${length}`;
    await this.#files.put(key, length, content);
  }

  /** Reads the parts of an upload as one file. */
  async *read({ keys }: PendingUpload): AsyncGenerator<Uint8Array> {
    for (const key of keys) {
      const content = await this.#files.open(key);
      if (!content)
        throw new SignageError(
          'unavailable',
          'This upload has ended elsewhere. Ask for the file.',
          {
            retryAfterSeconds: 1,
          },
        );
      yield* content;
    }
  }

  /** Deletes all parts of a file. */
  async discard(tenantId: string, id: string): Promise<void> {
    for await (const part of this.#list(tenantId))
      if (part.id === id) await this.#files.delete(part.key);
  }

  /** Deletes uploads whose last byte arrived before `timeMs`. */
  async sweep(timeMs: number): Promise<void> {
    const newest = new Map<string, { modifiedAt: number; keys: string[] }>();
    for await (const key of this.#files.list('parts/')) {
      const folder = key.slice(0, key.lastIndexOf('/'));
      const upload = newest.get(folder) ?? { modifiedAt: 0, keys: [] };
      const { modifiedAt = 0 } = (await this.#files.find(key)) ?? {};
      upload.modifiedAt = Math.max(upload.modifiedAt, modifiedAt);
      upload.keys.push(key);
      newest.set(folder, upload);
    }
    for (const { modifiedAt, keys } of newest.values()) {
      if (modifiedAt >= timeMs) continue;
      for (const key of keys) await this.#files.delete(key);
    }
  }

  /** Throws `unavailable` if the tenant has too many unfinished uploads for one more. */
  checkCount(pending: ReadonlyMap<string, number>, id: string): void {
    if (pending.size < maxPending || pending.has(id)) return;
    throw new SignageError(
      'unavailable',
      `This tenant has ${maxPending} unfinished uploads: finish some, or wait until they end after an hour.`,
      { retryAfterSeconds: 60 },
    );
  }

  async *#list(tenantId: string) {
    for await (const key of this.#files.list(folderOf(tenantId))) {
      const [, id, size, offset, length] = partForm.exec(key) ?? [];
      if (id === undefined) continue;
      yield { key, id, size: Number(size), offset: Number(offset), length: Number(length) };
    }
  }
}

function checkPart({ offset, size, length }: Part): void {
  const wrong = (path: string, message: string) => invalid([{ path, message }]);
  if (length === 0) throw wrong('header.content-length', 'must not be 0');
  if (offset + length > size)
    throw wrong('query.size', 'is less than the end of this part: offset and Content-Length');
  if (length < minPartBytes && offset + length < size)
    throw wrong(
      'header.content-length',
      `must be at least ${minPartBytes}, except for the last part of a file`,
    );
}
