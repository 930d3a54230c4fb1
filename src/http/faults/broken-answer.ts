import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

/** What stands for "no answer" where there is no connection to break: as `fetch` fails when the other side hangs up. */
const hungUp = () => new TypeError('fetch failed: a fault rule broke the connection off');

/** Breaks the connection off without an answer. */
export function hangUp(outgoing: ServerResponse | undefined): Response {
  if (!outgoing) throw hungUp();
  // Ended as well: whoever counts what is under way must not wait for it.
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

/** Sends the head of the answer and half of its body, then breaks the connection off; at once when there is no body to send. */
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
