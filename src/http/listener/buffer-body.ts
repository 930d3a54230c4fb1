import type { IncomingMessage } from 'node:http';

/** A request with its buffered body, if any. `@hono/node-server` reads the same property. */
export type BufferedRequest = IncomingMessage & { rawBody?: Buffer };

/** Node buffers this much of a body in any case, before anybody reads it. */
const maxBufferedBytes = 16 * 1024;

/**
 * Calls `begin` once a small body of known length is buffered, and at once for any other request.
 * Until then, a slow client costs only its connection: the app's objects for a request take three
 * times as much memory. A request that is aborted or times out before is never begun.
 */
export function bufferBody(incoming: BufferedRequest, begin: () => void): void {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (!(announced > 0 && announced <= maxBufferedBytes)) {
    begin();
    return;
  }
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
  incoming.on('end', () => {
    incoming.rawBody =
      chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, announced);
    begin();
  });
}
