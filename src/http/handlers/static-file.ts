import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { getMimeType } from 'hono/utils/mime';
import { SignageError } from '../../domain/error.ts';
import { matchesWeakly } from '../../domain/etag.ts';

/** A static file, held in memory once for all responses. */
export interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
  etag: string;
}

/**
 * Number of bytes handed to a connection at a time. It is small, because TLS keeps an encrypted
 * copy of all unsent bytes.
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
 * Reads a file. Its content type follows from its extension. `headers` are added to every response.
 */
export function readStaticFile(path: string, headers: Record<string, string>): StaticFile {
  const type = getMimeType(path) ?? 'application/octet-stream';
  return staticFile(Uint8Array.from(readFileSync(path)), type, headers);
}

/** Returns a static file with this content. */
export function staticFile(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
  headers: Record<string, string>,
): StaticFile {
  const etag = `"${hash('sha256', bytes, 'base64url')}"`;
  return {
    bytes,
    etag,
    headers: { ...headers, 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', ETag: etag },
  };
}

/** Responds with the file, or with 304 if the client has it already. */
export function answerStaticFile(context: Context, file: StaticFile): Response {
  if (matchesWeakly(context.req.header('If-None-Match'), file.etag))
    return context.body(null, 304, file.headers);
  return context.body(sharedBody(context, file.bytes), 200, {
    ...file.headers,
    'Content-Length': String(file.bytes.length),
  });
}

// Creatives are untrusted code. The policy gives their scripts an origin of their own, and blocks
// requests to the network.
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:";

// Players load media from another origin. Demo media are public.
const mediaHeaders = {
  'Cache-Control': 'public, max-age=3600',
  'Content-Security-Policy': creativePolicy,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/**
 * Serves the files of a folder under `/media/`, without subfolders. Reads them once, when this is
 * called. Requests are matched against the list of file names, so no path can leave the folder.
 */
export function mediaRoutes(folder: string): Hono {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('.'),
  );
  const files = new Map(
    entries.map(({ name }) => [name, readStaticFile(join(folder, name), mediaHeaders)]),
  );
  const app = new Hono();
  app.get('/media/:name', (context) => {
    const file = files.get(context.req.param('name'));
    if (!file) throw new SignageError('not_found', 'There is no such file.');
    return answerStaticFile(context, file);
  });
  return app;
}
