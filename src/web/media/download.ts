import type { PlaybackFailure } from '../../player/stage.ts';
import { isQuotaExceeded, type MediaRecord } from '../memory/database.ts';
import type { MediaBudget } from './media-budget.ts';
import type { KeptMedia } from './media-store.ts';

const partBytes = 8 * 1024 * 1024;
/**
 * Maximum size of a file whose hash is checked. Browsers need the whole file in memory for the
 * check.
 */
const maxHashedBytes = 128 * 1024 * 1024;

/** A media file, with its size in bytes and its SHA-256 in hex if the publisher specified them. */
export interface ExpectedMedia {
  url: string;
  size?: number | undefined;
  sha256?: string | undefined;
  /** Whether the file cannot be used from its own URL. */
  needsCopy?: boolean;
}

/**
 * Error with the reason why a file could not be stored. `isFinal`: the host sent an error status or
 * a wrong file, so showing the file directly from its URL would fail, too.
 */
export class DownloadFailed extends Error {
  readonly reason: PlaybackFailure;
  readonly isFinal: boolean;

  constructor(reason: PlaybackFailure, isFinal: boolean) {
    super(`The media file could not be stored: ${reason}.`);
    this.reason = reason;
    this.isFinal = isFinal;
  }
}

export interface DownloadDependencies {
  store: KeptMedia;
  budget: MediaBudget;
  now(): number;
}

/**
 * Returns the strong `ETag` of a response. `If-Range` accepts only strong ETags (RFC 9110 §13.1.5).
 */
function strongEtag(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  return etag?.startsWith('"') ? etag : undefined;
}

/** Requests the rest of a file, or the whole file if no part of it is stored. */
async function request(url: string, stored: MediaRecord | undefined): Promise<Response> {
  if (stored?.etag && stored.bytes > 0) {
    const headers = { range: `bytes=${stored.bytes}-`, 'if-range': stored.etag };
    const rest = await fetch(url, { headers, credentials: 'omit' }).catch(() => undefined);
    // After a failure or a 416, requests the whole file. The host may reject these headers. A 416
    // means that a power cut came after the last part.
    if (rest && rest.status !== 416) return rest;
    await rest?.body?.cancel();
  }
  try {
    return await fetch(url, { credentials: 'omit' });
  } catch {
    // The browser reports a lost network and a host without CORS headers by the same error.
    throw new DownloadFailed('unreachable', false);
  }
}

/**
 * Returns the stored record if the response continues the stored file. Otherwise returns a new
 * record.
 */
async function recordFor(
  { store, now }: DownloadDependencies,
  url: string,
  stored: MediaRecord | undefined,
  { status, headers }: Response,
): Promise<MediaRecord> {
  const start = /^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1];
  if (status === 206 && stored && Number(start ?? stored.bytes) === stored.bytes) return stored;
  if (status !== 200) throw new DownloadFailed(`http_${status}`, true);
  const type = headers.get('content-type') ?? '';
  // A login page of the network answers 200 to every request.
  if (/^text\/html/i.test(type)) throw new DownloadFailed('not_media', true);
  return store.begin({ url, type, etag: strongEtag(headers) }, now());
}

/** Stores a part. Evicts other files if it exceeds the budget or the quota. */
async function appendPart(
  { store, budget }: DownloadDependencies,
  record: MediaRecord,
  chunks: Uint8Array[],
): Promise<MediaRecord> {
  const part = new Blob(chunks as BlobPart[]);
  const { url, bytes } = record;
  const isRoom = budget.isReserved(url) && (await budget.reserve(url, bytes + part.size));
  if (!isRoom) throw new DownloadFailed('too_large', false);
  for (;;) {
    try {
      return await store.append(record, part);
    } catch (error) {
      if (!isQuotaExceeded(error)) throw error;
      if (!(await budget.evictOne())) throw new DownloadFailed('too_large', false);
    }
  }
}

async function storeBody(
  dependencies: DownloadDependencies,
  begun: MediaRecord,
  body: ReadableStream<Uint8Array>,
): Promise<MediaRecord> {
  const reader = body.getReader();
  let record = begun;
  let chunks: Uint8Array[] = [];
  let length = 0;
  const flush = async () => {
    if (length === 0) return;
    record = await appendPart(dependencies, record, chunks);
    chunks = [];
    length = 0;
  };
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(async () => {
        // Keeps the received bytes, so that the next attempt continues after them.
        await flush();
        throw new DownloadFailed('unreachable', false);
      });
      if (done) break;
      chunks.push(value);
      length += value.length;
      if (length >= partBytes) await flush();
    }
    await flush();
    return record;
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Returns whether the content has this SHA-256, in hex. Returns `true` without a check for large
 * files, and without HTTPS, because browsers then compute no hashes.
 */
async function hasHash(blob: Blob, sha256: string): Promise<boolean> {
  if (!crypto.subtle || blob.size > maxHashedBytes) return true;
  const digest = await crypto.subtle.digest('SHA-256', await new Response(blob).arrayBuffer());
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return hex.join('') === sha256.toLowerCase();
}

/**
 * Downloads a file into the store, or continues an interrupted download. Holds about 8 MiB in
 * memory at a time, and the whole file to check its hash. Rejects with `DownloadFailed`, or with an
 * error of the database. With `isReplaced`, downloads the whole file again. The stored file is
 * deleted only after its host begins to deliver the new file.
 */
export async function download(
  dependencies: DownloadDependencies,
  file: ExpectedMedia,
  isReplaced = false,
): Promise<void> {
  const { store, budget } = dependencies;
  const { url, size, sha256 } = file;
  const stored = isReplaced ? undefined : await store.find(url);
  if (stored?.isComplete) return;
  const response = await request(url, stored);
  let begun: MediaRecord | undefined;
  try {
    begun = await recordFor(dependencies, url, stored, response);
    const contentLength = Number(response.headers.get('content-length') ?? 0);
    const bytes = size ?? begun.bytes + contentLength;
    if (!(await budget.reserve(url, bytes))) throw new DownloadFailed('too_large', false);
    if (!response.body) throw new DownloadFailed('unreachable', false);
    const record = await storeBody(dependencies, begun, response.body);
    const isExpected =
      record.bytes > 0 &&
      record.bytes === (size ?? record.bytes) &&
      (sha256 === undefined || (await hasHash(await store.contentOf(record), sha256)));
    if (!isExpected) throw new DownloadFailed('not_media', true);
    await store.complete(record);
  } catch (error) {
    const isResumable =
      error instanceof DownloadFailed && /^(?:unreachable|http_5)/.test(error.reason);
    if (!isResumable && (begun || !isReplaced)) await store.delete(url);
    throw error;
  } finally {
    budget.release(url);
    // Frees the connection of an unread body. Rejects for a body that `storeBody` has read.
    response.body?.cancel().catch(() => {});
  }
}
