import { hash } from 'node:crypto';
import type { Context } from 'hono';
import { COMPRESSIBLE_CONTENT_TYPE_REGEX } from 'hono/compress';
import { getMimeType } from 'hono/utils/mime';
import { matchesWeakly } from '../../domain/etags/etag.ts';
import {
  type Coding,
  compress,
  maxUncompressedBytes,
  preferredCoding,
} from '../request/compression.ts';

interface StaticFileOptions {
  /** Headers of every response. */
  headers: Record<string, string>;
  /** Whether the file is compressed for clients that accept a content coding. */
  compression: boolean;
}

/** A file in one content coding. */
interface Representation {
  bytes: Uint8Array<ArrayBuffer>;
  /** A strong `ETag`: a hash of `bytes`. */
  etag: string;
  headers: Record<string, string>;
}

/**
 * A static file, held in memory once for all responses. Each compressed form is made at its first
 * request, and then kept.
 */
export class StaticFile {
  readonly #plain: Representation;
  readonly #isCompressible: boolean;
  readonly #compressed = new Map<Coding, Promise<Representation>>();

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    type: string,
    { headers, compression }: StaticFileOptions,
  ) {
    this.#isCompressible =
      compression &&
      bytes.length > maxUncompressedBytes &&
      COMPRESSIBLE_CONTENT_TYPE_REGEX.test(type);
    const own = { ...headers, 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' };
    const varying = this.#isCompressible ? { ...own, Vary: 'Accept-Encoding' } : own;
    this.#plain = representation(bytes, varying);
  }

  /** Returns the file in the form that the client prefers. */
  async represent(acceptEncoding: string | undefined): Promise<Representation> {
    const coding = this.#isCompressible ? preferredCoding(acceptEncoding) : undefined;
    if (!coding) return this.#plain;
    const known = this.#compressed.get(coding);
    if (known) return known;
    const { bytes, headers } = this.#plain;
    const made = compress(coding, bytes, 'once').then((smaller) =>
      representation(smaller, { ...headers, 'Content-Encoding': coding }),
    );
    this.#compressed.set(coding, made);
    // After a failure, the next request compresses again.
    made.catch(() => this.#compressed.delete(coding));
    return made;
  }
}

function representation(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Representation {
  const etag = `"${hash('sha256', bytes, 'base64url')}"`;
  return { bytes, etag, headers: { ...headers, ETag: etag } };
}

/**
 * Number of bytes handed to a connection at a time. The number is small, because TLS keeps an
 * encrypted copy of all unsent bytes.
 */
const sliceBytes = 64 * 1024;

/**
 * Returns the body of a response. For a request of the listener, it is a stream of views of
 * `bytes`, because a `Response` would copy them. For a mounted `fetch`, it is `bytes`: the copy
 * that `Response` makes protects the file from changes by the caller.
 */
function sharedBody(
  context: Context,
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (!context.env?.outgoing) return bytes;
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(sent, sent + sliceBytes));
        sent += sliceBytes;
        if (sent >= bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Returns a static file with a copy of `content`. The extension of `name` sets the content type.
 */
export function makeStaticFile(
  name: string,
  content: Uint8Array,
  options: StaticFileOptions,
): StaticFile {
  const type = getMimeType(name) ?? 'application/octet-stream';
  return new StaticFile(Uint8Array.from(content), type, options);
}

/** Responds with the file. Responds with 304 if the client already has the current version. */
export async function answerStaticFile(context: Context, file: StaticFile): Promise<Response> {
  const { bytes, etag, headers } = await file.represent(context.req.header('Accept-Encoding'));
  if (matchesWeakly(context.req.header('If-None-Match'), etag))
    return context.body(null, 304, headers);
  return context.body(sharedBody(context, bytes), 200, {
    ...headers,
    'Content-Length': String(bytes.length),
  });
}
