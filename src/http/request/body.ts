import type { IncomingMessage } from 'node:http';
import { SignageError } from '../../domain/error.ts';
import { type ParsedJson, parseJson } from '../../domain/json/parse-json.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { BufferedRequest } from '../listener/buffer-body.ts';

/** A body that was read: its bytes, and what they say; `json` is `undefined` when there was no body. */
export interface ReadBody extends ParsedJson {
  bytes: Uint8Array;
}

/** The most objects, arrays and members of a body, where its operation does not say (docs/protocol.md §1.7). */
const defaultPartLimit = 1000;

/** What an operation without a body has read. */
export const noBody: ReadBody = {
  bytes: new Uint8Array(),
  json: undefined,
  scan: { depth: 0, elements: [], members: 0 },
};

function tooLarge(limit: number): SignageError {
  return new SignageError(
    'body_too_large',
    `The body has more than ${limit} bytes: send less at once.`,
  );
}

const badJson = (why: string, cause?: unknown) =>
  new SignageError('invalid_json', `The body is not JSON: ${why}.`, { cause });

/** Nobody is there any more to read the answer: it is no fault of the service. */
const brokeOff = (cause?: unknown) => badJson('it broke off', cause);

/** A body of `length` bytes, as Node itself makes sure that it is; throws when the connection ends before. */
export function readAnnounced(incoming: BufferedRequest, length: number): MaybePromise<Uint8Array> {
  if (incoming.rawBody) return incoming.rawBody;
  return new Promise((resolve, reject) => {
    // While a database was asked who sends it: it will not close again.
    if (incoming.destroyed) return reject(brokeOff());
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
    incoming.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)),
    );
    incoming.on('error', (cause) => reject(brokeOff(cause)));
    // It closes in any case; an error that nobody needs is dear to make.
    incoming.on('close', () => incoming.readableEnded || reject(brokeOff()));
  });
}

/**
 * Reads at most `limit` bytes; throws `body_too_large` as soon as there are more, whether announced or not. `incoming` is the same request where it came
 * through the listener.
 */
export async function readBytes(
  request: Request,
  limit: number,
  incoming: IncomingMessage | undefined,
): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > limit) throw tooLarge(limit);
  // Past the streams of the web: of a body that comes byte by byte they make as many promises.
  if (announced !== null && incoming) return readAnnounced(incoming, Number(announced));
  try {
    return announced === null
      ? await readUnannounced(request, limit)
      : new Uint8Array(await request.arrayBuffer());
  } catch (cause) {
    throw cause instanceof SignageError ? cause : brokeOff(cause);
  }
}

async function readUnannounced(request: Request, limit: number): Promise<Uint8Array> {
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

/** `application/json` and everything `+json` (RFC 6839 §3.1), whatever its parameters. */
function isJsonType(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || (type.includes('/') && type.endsWith('+json'));
}

/**
 * Parses a body that was read, in the order of docs/protocol.md §1.3: content type and encoding (`unsupported_media_type`; not asked of an empty body), JSON
 * (`invalid_json`).
 */
export function parseBody(
  bytes: Uint8Array,
  contentType: string | null | undefined,
  encoding: string | null | undefined,
  mostParts = defaultPartLimit,
): ReadBody {
  if (bytes.length === 0) return noBody;
  checkType(contentType, encoding);
  return { bytes, ...parseJson(bytes, mostParts) };
}

/** Throws `unsupported_media_type`. */
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
    throw new SignageError(
      'unsupported_media_type',
      'Send the body as it is: compressed bodies are not taken.',
    );
  }
}
