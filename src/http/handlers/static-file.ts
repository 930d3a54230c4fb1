import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context } from 'hono';
import { getMimeType } from 'hono/utils/mime';

/** A file as it is answered: in memory once, whoever asks for it. */
export interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
  etag: string;
}

/** Bytes of a file that a connection has in hand at a time: TLS keeps an encrypted copy of all that is not sent. */
const sliceBytes = 64 * 1024;

/**
 * The body of a response, made of views of `bytes`: a `Response` would copy them. The caller of a
 * mounted `fetch` gets a copy, because it could change them.
 */
export function sharedBody(
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

/** Reads a file that goes out as it is; its content type is told by the ending of its name. `headers` go with every answer. */
export function readStaticFile(path: string, headers: Record<string, string>): StaticFile {
  const bytes = Uint8Array.from(readFileSync(path));
  const etag = `"${hash('sha256', bytes, 'base64url')}"`;
  const type = getMimeType(path) ?? 'application/octet-stream';
  return {
    bytes,
    etag,
    headers: { ...headers, 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', ETag: etag },
  };
}

/** Answers such a file, or 304 when the caller has it already. */
export function answerStaticFile(context: Context, file: StaticFile): Response {
  const known = context.req
    .header('If-None-Match')
    ?.split(',')
    .some((one) => one.trim().replace(/^W\//, '') === file.etag);
  if (known) return context.body(null, 304, file.headers);
  return context.body(sharedBody(context, file.bytes), 200, {
    ...file.headers,
    'Content-Length': String(file.bytes.length),
  });
}
