import type { IncomingMessage } from 'node:http';
import { SignageError } from '../../domain/error.ts';
import { invalidJson, type ParsedJson, parseJson } from '../../domain/json/parse-json.ts';
import type { RequestContext, ServedRequest } from './request-context.ts';

/** A body: its bytes and its parsed JSON. `json` is `undefined` if there was no body. */
export interface ReadBody extends ParsedJson {
  bytes: Uint8Array;
}

/**
 * Maximum number of objects, arrays and members of a body. Operations may override it
 * (docs/protocol.md §1.7).
 */
const defaultPartLimit = 1000;
/**
 * Maximum size of a body that is buffered before the app runs. Node buffers this much in any case.
 */
const maxBufferedBytes = 16 * 1024;

/** Value for operations without a request body. */
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

/**
 * Returns the error for a client that disconnected before the end of its body. It is not a fault of
 * the service.
 */
const incomplete = (cause?: unknown) => invalidJson('it is incomplete', cause);

/** Collects a body of `length` bytes, and calls `done` with the whole body. */
function collect(incoming: IncomingMessage, length: number, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
  incoming.on('end', () =>
    done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)),
  );
}

/**
 * Calls `begin` once a small body of known length is buffered. Any other request begins at once,
 * such as a request that waits for `100 Continue`. A slow client thus costs only the memory of its
 * connection. The app's objects for a request would take three times as much. `begin` is not called
 * if the request is aborted or times out first.
 */
export function bufferBody(incoming: ServedRequest, begin: () => void): void {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (incoming.sendContinue || !(announced > 0 && announced <= maxBufferedBytes)) {
    begin();
    return;
  }
  collect(incoming, announced, (body) => {
    incoming.rawBody = body;
    begin();
  });
}

/**
 * Reads a body of `length` bytes. Node enforces the length. Rejects if the connection closes
 * earlier.
 */
export async function readFixedLength(
  incoming: ServedRequest,
  length: number,
): Promise<Uint8Array> {
  if (incoming.rawBody) return incoming.rawBody;
  return new Promise((resolve, reject) => {
    // The connection may have closed during the look-up of the credential. In that case, `close`
    // has already been emitted.
    if (incoming.destroyed) return reject(incomplete());
    collect(incoming, length, resolve);
    incoming.on('error', (cause) => reject(incomplete(cause)));
    // Node always emits `close`. The error is created only for an incomplete body, because creating
    // errors is slow.
    incoming.on('close', () => incoming.readableEnded || reject(incomplete()));
  });
}

/**
 * Checks a body by its headers, before the body is read: first its size, then its content type and
 * encoding (docs/protocol.md §1.3). Throws `body_too_large` and `unsupported_media_type`. Bodies
 * without a `Content-Length` are checked while they are read.
 */
export function checkAnnouncedBody(request: Pick<RequestContext, 'header'>, limit: number): void {
  const length = Number(request.header('content-length') ?? 0);
  if (length > limit) throw tooLarge(limit);
  if (length > 0)
    checkMediaType(request.header('content-type'), request.header('content-encoding'));
}

/**
 * Reads a body that passed `checkAnnouncedBody`. Throws `body_too_large` for a body of unknown
 * length with more than `limit` bytes, and `invalid_json` for an incomplete body. `incoming` is the
 * request of the listener, if any. A client that waits for `100 Continue` gets it now.
 */
export async function readBytes(
  request: Request,
  limit: number,
  incoming: ServedRequest | undefined,
): Promise<Uint8Array> {
  const contentLength = request.headers.get('content-length');
  incoming?.sendContinue?.();
  // Bypasses web streams, which create a promise for each chunk, even for a chunk of one byte.
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

/** Throws `unsupported_media_type` unless the body is uncompressed JSON. */
function checkMediaType(
  contentType: string | null | undefined,
  encoding: string | null | undefined,
): void {
  if (contentType != null && !isJsonType(contentType)) {
    throw new SignageError(
      'unsupported_media_type',
      'Send the body as JSON, with Content-Type: application/json.',
    );
  }
  if ((encoding ?? 'identity').toLowerCase() !== 'identity')
    throw new SignageError('unsupported_media_type', 'Send the body uncompressed.');
}

/**
 * Parses a body, with the checks in the order of docs/protocol.md §1.3. Throws
 * `unsupported_media_type` for a wrong content type or encoding, unless the body is empty. Then
 * throws the errors of `parseJson`.
 */
export function parseBody(
  bytes: Uint8Array,
  contentType: string | null | undefined,
  encoding: string | null | undefined,
  maxParts = defaultPartLimit,
): ReadBody {
  if (bytes.length === 0) return noBody;
  checkMediaType(contentType, encoding);
  return { bytes, ...parseJson(bytes, maxParts) };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  return values.reduce<number>(
    (sum, one) => sum + membersOf(one),
    Array.isArray(value) ? 0 : values.length,
  );
}

/**
 * Returns a JSON body as one line with the same meaning: the original bytes, with line breaks
 * replaced by spaces. Valid JSON has line breaks only between tokens. A body with duplicate or
 * dropped members is serialized again.
 */
export function compactLine({ bytes, json, scan }: ReadBody): Uint8Array {
  if (scan.isCompact) return bytes;
  if (membersOf(json) !== scan.members) return Buffer.from(JSON.stringify(json));
  if (!bytes.includes(lineFeed) && !bytes.includes(carriageReturn)) return bytes;
  return bytes.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte));
}
