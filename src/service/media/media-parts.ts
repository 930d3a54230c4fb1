import { invalid, SignageError } from '../../domain/error.ts';
import {
  type PartKey,
  partKey,
  partsFolder,
  partsOfTenant,
  readPartKey,
  readUploadName,
  uploadFolder,
} from '../../domain/media/media-keys.ts';
import { Unchanged } from '../../domain/media/unchanged.ts';
import type { MediaStore } from '../../media/media-store.ts';

interface FoundPart extends PartKey {
  key: string;
}

/** An upload in parts that has not ended. */
export interface PendingUpload {
  /** Number of bytes received, from the start of the file without a gap. */
  received: number;
  /** Keys of the parts that make up the received bytes, in order. */
  keys: string[];
}

/** Smaller parts would make too many files. The last part may be smaller. */
const minPartBytes = 256 * 1024;
const maxPending = 64;
/** Number of further looks, one each minute, that must find an upload unchanged before it ends. */
const quietLooks = 3;

/** Thrown for a part that does not begin where the received bytes end. */
export const wrongOffset = (received: number) =>
  new SignageError(
    'media_offset',
    `The service has received ${received} bytes of this file: go on from there.`,
    { received },
  );

/** Parts of unfinished uploads, in the media store, where any instance finds them. */
export class MediaParts {
  readonly #files: MediaStore;
  /** Folders of uploads that this process works on, with the number of requests. */
  readonly #atWork = new Map<string, number>();
  readonly #quiet = new Unchanged(quietLooks);

  constructor(files: MediaStore) {
    this.#files = files;
  }

  /** Runs a request of an upload, which does not end as abandoned meanwhile. */
  async during<T>(
    tenantId: string,
    { id, size }: Pick<PartKey, 'id' | 'size'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const folder = uploadFolder(tenantId, id, size);
    this.#atWork.set(folder, (this.#atWork.get(folder) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#atWork.get(folder) ?? 1) - 1;
      if (left > 0) this.#atWork.set(folder, left);
      else this.#atWork.delete(folder);
    }
  }

  /** Returns the parts of a file that have arrived. Lists no other upload. */
  async find(
    tenantId: string,
    { id, size }: Pick<PartKey, 'id' | 'size'>,
    signal?: AbortSignal,
  ): Promise<PendingUpload> {
    return chained(await this.#list(uploadFolder(tenantId, id, size), signal));
  }

  /** Returns how much of a file has arrived, of whatever size its client states. */
  async received(tenantId: string, id: string, signal?: AbortSignal): Promise<number> {
    const bySize = new Map<number, FoundPart[]>();
    for (const part of await this.#list(`${partsOfTenant(tenantId)}${id}-`, signal)) {
      const parts = bySize.get(part.size) ?? [];
      parts.push(part);
      bySize.set(part.size, parts);
    }
    let most = 0;
    for (const parts of bySize.values()) most = Math.max(most, chained(parts).received);
    return most;
  }

  /** Returns the sizes of all uploads of a tenant that have not ended, by the id of the file. */
  async sizes(tenantId: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for await (const name of this.#files.folders(partsOfTenant(tenantId))) {
      const upload = readUploadName(name);
      if (upload) sizes.set(upload.id, upload.size);
    }
    return sizes;
  }

  /** Stores a part. The first part ends an upload of the same file with another size. */
  async add(tenantId: string, part: PartKey, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { id, size, offset } = part;
    if (offset === 0) await this.#discard(tenantId, id, uploadFolder(tenantId, id, size));
    await this.#files.put(partKey(tenantId, part), part.length, content);
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
  discard(tenantId: string, id: string): Promise<void> {
    return this.#discard(tenantId, id);
  }

  async #discard(tenantId: string, id: string, except?: string): Promise<void> {
    for (const { key } of await this.#list(`${partsOfTenant(tenantId)}${id}-`))
      if (except === undefined || !key.startsWith(except)) await this.#files.delete(key);
  }

  /** Ends abandoned uploads. Call it every minute. */
  async sweep(): Promise<void> {
    const uploads = new Map<string, string[]>();
    for await (const key of this.#files.list(partsFolder)) {
      const folder = key.slice(0, key.lastIndexOf('/') + 1);
      if (!readPartKey(key) || this.#atWork.has(folder)) continue;
      const keys = uploads.get(folder) ?? [];
      keys.push(key);
      uploads.set(folder, keys);
    }
    const states = new Map<string, string>();
    for (const [folder, keys] of uploads) states.set(folder, String(keys.length));
    for (const folder of this.#quiet.round(states))
      for (const key of uploads.get(folder) ?? []) await this.#files.delete(key);
  }

  /** Throws `unavailable` if the tenant has too many unfinished uploads for one more. */
  checkCount(pending: ReadonlyMap<string, number>, id: string): void {
    if (pending.size < maxPending || pending.has(id)) return;
    throw new SignageError(
      'unavailable',
      `This tenant has ${maxPending} unfinished uploads: finish some, or wait until they end after a few minutes.`,
      { retryAfterSeconds: 60 },
    );
  }

  /** Lists parts completely, so that they can be deleted without an effect on the listing. */
  async #list(prefix: string, signal?: AbortSignal): Promise<FoundPart[]> {
    const parts: FoundPart[] = [];
    for await (const key of this.#files.list(prefix, signal)) {
      const part = readPartKey(key);
      if (part) parts.push({ ...part, key });
    }
    return parts;
  }
}

/**
 * Returns the parts that follow each other from the start. Two clients may have sent parts of
 * different lengths at the same offset: the longest one counts.
 */
function chained(parts: readonly FoundPart[]): PendingUpload {
  const longest = new Map<number, FoundPart>();
  for (const part of parts)
    if (part.length > (longest.get(part.offset)?.length ?? 0)) longest.set(part.offset, part);
  const upload: PendingUpload = { received: 0, keys: [] };
  for (let part = longest.get(0); part; part = longest.get(upload.received)) {
    upload.keys.push(part.key);
    upload.received += part.length;
  }
  return upload;
}

/**
 * Throws `invalid_request` for a part that does not fit its file. An empty part at the end of the
 * file asks for the file.
 */
export function checkPart({ offset, size, length }: PartKey): void {
  if (length === 0 && offset === size) return;
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
