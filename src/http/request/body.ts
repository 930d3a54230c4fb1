import type { IncomingMessage } from 'node:http';
import { SignageError } from '../../domain/error.ts';
import { type ParsedJson, parseJson } from '../../domain/json/parse-json.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { BufferedRequest } from '../listener/buffer-body.ts';

/** A body: its bytes and its parsed JSON. `json` is `undefined` if there was no body. */
export interface ReadBody extends ParsedJson {
  bytes: Uint8Array;
}

/**
 * Maximum number of objects, arrays and members of a body. Operations may override it
 * (docs/protocol.md §1.7).
 */
const defaultPartLimit = 1000;

/** The body of an operation that has none. */
export const noBody: ReadBody = {
  bytes: new Uint8Array(),
  json: undefined,
  scan: { depth: 0, elements: [], members: 0 },
};

function tooLarge(limit: number): SignageError {
  return new SignageError(
    'body_too_large',
    `The body has more than ${limit} bytes. Send less at once.`,
  );
}

const invalidJson = (why: string, cause?: unknown) =>
  new SignageError('invalid_json', `The body is not JSON: ${why}.`, { cause });

/** The client disconnected, so nobody reads this error. It is not a fault of the service. */
const incomplete = (cause?: unknown) => invalidJson('it is incomplete', cause);

/**
 * Reads a body of `length` bytes, which Node enforces. Rejects if the connection closes earlier.
 */
export function readFixedLength(
  incoming: BufferedRequest,
  length: number,
): MaybePromise<Uint8Array> {
  if (incoming.rawBody) return incoming.rawBody;
  return new Promise((resolve, reject) => {
    // The connection closed while the credential was looked up, so `close` was already emitted.
    if (incoming.destroyed) return reject(incomplete());
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
    incoming.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)),
    );
    incoming.on('error', (cause) => reject(incomplete(cause)));
    // `close` follows in any case. The error is created only if needed, because that is slow.
    incoming.on('close', () => incoming.readableEnded || reject(incomplete()));
  });
}

/**
 * Reads at most `limit` bytes. Throws `body_too_large` for more, whether announced or not.
 * `incoming` is the request of the listener, if there is one.
 */
export async function readBytes(
  request: Request,
  limit: number,
  incoming: IncomingMessage | undefined,
): Promise<Uint8Array> {
  const contentLength = request.headers.get('content-length');
  if (contentLength !== null && Number(contentLength) > limit) throw tooLarge(limit);
  // Bypasses web streams, which create one promise per chunk, even of a single byte.
  if (contentLength !== null && incoming) return readFixedLength(incoming, Number(contentLength));
  try {
    return contentLength === null
      ? await readChunked(request, limit)
      : new Uint8Array(await request.arrayBuffer());
  } catch (cause) {
    throw cause instanceof SignageError ? cause : incomplete(cause);
  }
}

async function readChunked(request: Request, limit: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Accepts `application/json` and any `+json` type (RFC 6839 §3.1), with any parameters. */
function isJsonType(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || (type.includes('/') && type.endsWith('+json'));
}

/**
 * Parses a body in the order of docs/protocol.md §1.3: content type and encoding
 * (`unsupported_media_type`; not checked for an empty body), then JSON (`invalid_json`).
 */
export function parseBody(
  bytes: Uint8Array,
  contentType: string | null | undefined,
  encoding: string | null | undefined,
  maxParts = defaultPartLimit,
): ReadBody {
  if (bytes.length === 0) return noBody;
  checkType(contentType, encoding);
  return { bytes, ...parseJson(bytes, maxParts) };
}

/** Throws `unsupported_media_type` for a content type other than JSON, or a compressed body. */
export function checkType(
  contentType: string | null | undefined,
  encoding: string | null | undefined,
): void {
  if (contentType != null && !isJsonType(contentType)) {
    throw new SignageError(
      'unsupported_media_type',
      'Send the body as JSON, with Content-Type: application/json.',
    );
  }
  if ((encoding ?? 'identity').toLowerCase() !== 'identity') {
    throw new SignageError('unsupported_media_type', 'Send the body uncompressed.');
  }
}
