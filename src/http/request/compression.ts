import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';
import type { Operation } from '../../wire/operations/operations.ts';
import type { HttpResponse } from './http-response.ts';
import { isList } from './pipeline.ts';

/** Content codings of responses (RFC 9110 §8.4.1). */
export type Coding = 'br' | 'gzip';

/** Responses of at most this many bytes fit into one packet and are not compressed. */
export const maxUncompressedBytes = 1024;
/**
 * Maximum number of lists that one service compresses at a time. zlib works in Node's thread pool,
 * which has 4 threads by default. The other two threads stay free for disk writes.
 */
const maxConcurrent = 2;

/**
 * Returns the content coding for a response, or `undefined` for an uncompressed response (RFC 9110
 * §12.5.3). Chooses the highest weight. Among equal weights, `br` comes before `gzip`, and both
 * before `identity`. If no coding is acceptable, the response is not compressed.
 */
export function preferredCoding(acceptEncoding: string | undefined): Coding | undefined {
  const accepted = parseAccept(acceptEncoding ?? '');
  const weightOf = (coding: string) => {
    const named = accepted.find(({ type }) => type.toLowerCase() === coding);
    return (named ?? accepted.find(({ type }) => type === '*'))?.q ?? 0;
  };
  const best = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br';
  const weight = weightOf(best);
  return weight > 0 && weight >= weightOf('identity') ? best : undefined;
}

const brotliBytes = promisify(brotliCompress);
const gzipBytes = promisify(gzip);

/** Higher levels take several times as long and save only a few percent. */
const levels = {
  once: { br: 9, gzip: 9 },
  eachTime: { br: 4, gzip: 6 },
};

/**
 * Compresses in the thread pool.
 *
 * @param use whether the result is kept, or made for one response only
 */
export function compress(
  coding: Coding,
  bytes: Uint8Array,
  use: keyof typeof levels,
): Promise<Uint8Array<ArrayBuffer>> {
  if (coding === 'gzip') return gzipBytes(bytes, { level: levels[use].gzip });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: levels[use].br,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliBytes(bytes, { params });
}

/**
 * Returns whether responses of an operation may be compressed: those with `items`. Playlists and
 * configs are not compressed, because their strong `ETag` stands for one exact body. A compressed
 * secret could be guessed by its length (BREACH), so no response with a secret is compressed.
 */
export function isCompressible(operation: Operation): boolean {
  return isList(operation) && operation.revision !== true;
}

/** Compresses a response if the client accepts a content coding. Adds `Vary`. */
export type CompressResponse = (
  answer: HttpResponse,
  acceptEncoding: string | undefined,
) => Promise<HttpResponse>;

/**
 * Returns a function that compresses lists and reports. While two responses are being compressed,
 * further responses are sent uncompressed, so that no request waits for the compression of another
 * request.
 */
export function makeCompressAnswer(): CompressResponse {
  let inProgress = 0;
  return async ({ status, headers, type, body }, acceptEncoding) => {
    const vary =
      headers.Vary === undefined ? 'Accept-Encoding' : `${headers.Vary}, Accept-Encoding`;
    const varying = { ...headers, Vary: vary };
    const coding = preferredCoding(acceptEncoding);
    const isLarge = typeof body === 'string' && Buffer.byteLength(body) > maxUncompressedBytes;
    if (!coding || !isLarge || inProgress >= maxConcurrent)
      return { status, headers: varying, type, body };
    inProgress++;
    try {
      const bytes = await compress(coding, Buffer.from(body), 'eachTime');
      return { status, headers: { ...varying, 'Content-Encoding': coding }, type, body: bytes };
    } finally {
      inProgress--;
    }
  };
}
