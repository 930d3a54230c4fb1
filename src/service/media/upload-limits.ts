import { SignageError } from '../../domain/error.ts';
import type { Reader } from '../../store/store.ts';
import type { TenantPrincipal } from '../context.ts';
import type { MediaParts } from './media-parts.ts';

const maxUploadsOfToken = 4;

interface Limits {
  /** The largest file in bytes. */
  limitBytes: number;
  /** What the files of one tenant may take, in bytes. */
  quotaBytes: number;
}

/** Decides whether an upload may begin: by its size, the quota of its tenant, and its token. */
export class UploadLimits {
  readonly #reader: Pick<Reader, 'get'>;
  readonly #parts: MediaParts;
  readonly #limits: Limits;
  /** Number of uploads in progress, by the id of their token. */
  readonly #uploads = new Map<string, number>();
  /** Bytes of uploads in progress on this instance, by tenant. */
  readonly #reserved = new Map<string, number>();

  constructor(reader: Pick<Reader, 'get'>, parts: MediaParts, limits: Limits) {
    this.#reader = reader;
    this.#parts = parts;
    this.#limits = limits;
  }

  /**
   * Runs the upload of a file of `size` bytes, of which `reserved` are not in the media store as
   * parts. Throws `media_too_large`, `media_quota_exceeded`, and `unavailable` for too many
   * unfinished uploads.
   */
  async within<T>(
    { tenantId }: TenantPrincipal,
    { id, size, reserved }: { id: string; size: number; reserved: number },
    work: () => Promise<T>,
  ): Promise<T> {
    const { limitBytes } = this.#limits;
    if (size > limitBytes)
      throw new SignageError(
        'media_too_large',
        `A file may have ${limitBytes} bytes here, and this one has ${size}. Make it smaller, or ask the operator to raise --media-limit.`,
      );
    const usage = await this.#reader.get('mediaUsage', tenantId);
    const pending = await this.#parts.sizes(tenantId);
    this.#parts.checkCount(pending, id);
    let taken = (usage?.bytes ?? 0) + (this.#reserved.get(tenantId) ?? 0);
    for (const [other, bytes] of pending) if (other !== id) taken += bytes;
    this.checkQuota(taken + size);
    add(this.#reserved, tenantId, reserved);
    try {
      return await work();
    } finally {
      add(this.#reserved, tenantId, -reserved);
    }
  }

  /** Throws `media_quota_exceeded` if the files of a tenant would take more than it may have. */
  checkQuota(bytes: number): void {
    const { quotaBytes } = this.#limits;
    if (bytes > quotaBytes)
      throw new SignageError(
        'media_quota_exceeded',
        `The media of a tenant may take ${quotaBytes} bytes here, unfinished uploads included. Delete files that no playlist names.`,
      );
  }

  /** Runs a request of an upload, at most 4 at a time for one token. */
  async run<T>({ actor }: TenantPrincipal, work: () => Promise<T>): Promise<T> {
    const token = String(actor.id);
    if ((this.#uploads.get(token) ?? 0) >= maxUploadsOfToken)
      throw new SignageError(
        'unavailable',
        `This token sends ${maxUploadsOfToken} files already. Send fewer at a time.`,
        { retryAfterSeconds: 1 },
      );
    add(this.#uploads, token, 1);
    try {
      return await work();
    } finally {
      add(this.#uploads, token, -1);
    }
  }
}

/** Adds to a number in a map, which has no zeros. */
function add(numbers: Map<string, number>, key: string, more: number): void {
  const sum = (numbers.get(key) ?? 0) + more;
  if (sum === 0) numbers.delete(key);
  else numbers.set(key, sum);
}
