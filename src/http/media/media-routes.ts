import type { Hono } from 'hono';
import { type Clock, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { matchesWeakly } from '../../domain/etags/etag.ts';
import type { ByteRange } from '../../domain/media/media.ts';
import { type MediaType, mediaTypes } from '../../domain/media/media-types.ts';
import type { Services } from '../../service/assembly/services.ts';
import { methodNotAllowed, setOperation } from '../request/fetch-adapter.ts';
import type { App, Ctx } from '../request/request-context.ts';
import { DownloadPlaces } from './download-places.ts';

/**
 * Longest time in which a client takes a chunk of 64 KiB: about 2 KiB a second. 16 downloads on a
 * line of 1 Mbit/s take 8 KiB a second each.
 */
const chunkTimeoutMs = 30 * secondMs;

// Creatives are untrusted code. The policy gives their scripts an opaque origin, and blocks
// requests to the network.
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:";

// Any origin may read the media: players load them from another origin, and media are public.
const mediaHeaders = {
  'Content-Security-Policy': creativePolicy,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

const noSuchFile = () => new SignageError('not_found', 'There is no file at this path.');

/**
 * Returns the range that a request asks for, or `undefined` for the whole file. Several ranges, and
 * malformed ones, count as none (RFC 9110 §14.2). Throws `range_not_satisfiable`.
 */
function rangeOf(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  if (start >= size || (first === '' && Number(last) === 0))
    throw new SignageError('range_not_satisfiable', `The file has ${size} bytes.`, { size });
  return { start, end };
}

interface ContentReader {
  clock: Clock;
  /** Called when the content has ended, or the client has left. */
  onEnd(): void;
  /** Closes the connection, if it is known, of a client that takes too long for a chunk. */
  cut(): void;
}

/** Sends content chunk by chunk, as fast as the client reads. */
function streamOf(
  content: AsyncIterable<Uint8Array>,
  { clock, onEnd, cut }: ContentReader,
): ReadableStream<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  let taken = () => {};
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        taken();
        try {
          const { done, value } = await chunks.next();
          if (!done) {
            taken = clock.after(chunkTimeoutMs, () => {
              cut();
              // Closes the file of a reader that has no connection, too.
              onEnd();
              void chunks.return?.();
            });
            return controller.enqueue(value);
          }
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      async cancel() {
        taken();
        onEnd();
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns a signal that aborts when the connection of a request closes. */
function goneSignal({ env, req }: Ctx): AbortSignal {
  const outgoing = env?.outgoing;
  if (!outgoing) return req.raw.signal;
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  if (outgoing.destroyed || env.incoming?.socket.destroyed) gone.abort();
  return gone.signal;
}

/**
 * Routes of uploaded files, `GET /media/<id>.<extension>` (docs/protocol.md §5.14). Whoever knows a
 * path may read the file.
 */
export function mediaRoutes(app: Hono<App>, { media }: Services, clock: Clock): void {
  const places = new DownloadPlaces();
  const path = '/media/:file{[0-9a-f]{64}\\.[a-z0-9]+}';

  async function answer(context: Ctx): Promise<Response> {
    const [id = '', extension] = (context.req.param('file') ?? '').split('.');
    const row = await media.file(id);
    if (!row || mediaTypes[row.type as MediaType].extension !== extension) throw noSuchFile();
    const etag = `"${id}"`;
    const headers: Record<string, string> = {
      ...mediaHeaders,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      'Accept-Ranges': 'bytes',
      ETag: etag,
    };
    if (matchesWeakly(context.req.header('if-none-match'), etag))
      return new Response(null, { status: 304, headers });
    const ifRange = context.req.header('if-range');
    const isRangeWanted = ifRange === undefined || ifRange === etag;
    const range = isRangeWanted ? rangeOf(context.req.header('range'), row.bytes) : undefined;
    const { start, end } = range ?? { start: 0, end: row.bytes - 1 };
    headers['Content-Type'] = row.type;
    headers['Content-Length'] = String(end - start + 1);
    if (range) headers['Content-Range'] = `bytes ${start}-${end}/${row.bytes}`;
    const status = range ? 206 : 200;
    if (context.req.raw.method === 'HEAD') {
      if (!(await media.isStored(id, end + 1))) throw noSuchFile();
      return new Response(null, { status, headers });
    }
    // Waiting for other downloads, or for a slow reader, is no sign of overload.
    context.env?.incoming?.admission?.end();
    const leave = await places.enter(context.var.client.address, goneSignal(context));
    try {
      const content = await media.open(id, { start, end });
      if (!content) throw noSuchFile();
      const cut = () => context.env?.outgoing?.destroy();
      return new Response(streamOf(content, { clock, onEnd: leave, cut }), { status, headers });
    } catch (error) {
      leave();
      throw error;
    }
  }

  app.get(path, setOperation('media'), answer);
  // Browsers ask before they send `Range` or `If-None-Match` to another origin.
  app.options(path, (context) => {
    for (const [name, value] of Object.entries(preflight)) context.header(name, value);
    return context.body(null, 204);
  });
  methodNotAllowed(app, path, ['GET', 'OPTIONS']);
}

const preflight = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': 'Range, If-None-Match, If-Range',
  'Access-Control-Max-Age': '86400',
};
