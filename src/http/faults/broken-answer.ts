import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

/**
 * The error for a broken connection where there is no connection to break, as `fetch` throws it.
 */
const hungUp = () => new TypeError('fetch failed: a fault rule broke the connection');

/** Closes the connection without a response. */
export function hangUp(outgoing: ServerResponse | undefined): Response {
  if (!outgoing) throw hungUp();
  // Also ended, because the count of requests in progress waits for the end of the response.
  outgoing.destroy().end();
  return new Response(null, RESPONSE_ALREADY_SENT);
}

function brokenStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) controller.error(hungUp());
      else controller.enqueue(bytes);
      sent = true;
    },
  });
}

/**
 * Sends the head of the response and half of its body, then closes the connection. Closes it at
 * once if there is no body.
 */
export async function breakOff(
  answer: Response,
  method: string,
  outgoing: ServerResponse | undefined,
): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length === 0 || method === 'HEAD') return hangUp(outgoing);
  const half = bytes.subarray(0, bytes.length >> 1);
  const headers = new Headers(answer.headers);
  headers.set('Content-Length', String(bytes.length));
  if (!outgoing) return new Response(brokenStream(half), { status: answer.status, headers });
  outgoing.writeHead(answer.status, Object.fromEntries(headers));
  outgoing.flushHeaders();
  outgoing.write(half, () => outgoing.destroy());
  return new Response(null, RESPONSE_ALREADY_SENT);
}
