import type { IncomingMessage } from 'node:http';

/** A request with the body that has arrived with it, if it was waited for: named so that `@hono/node-server` finds it as well. */
export type BufferedRequest = IncomingMessage & { rawBody?: Buffer };

/** So much Node holds of a body in any case, before anybody reads it. */
const mostBytes = 16 * 1024;

/**
 * Calls `begin` once a request has arrived with its body, if that is announced and small; at once for any other. Of a slow client the service then has nothing but
 * the connection: what the app makes of a request is three times as much. One that breaks off, or is cut off, is never begun.
 */
export function bufferBody(incoming: BufferedRequest, begin: () => void): void {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (!(announced > 0 && announced <= mostBytes)) {
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
