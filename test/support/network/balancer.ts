// A load balancer with the rules of docs/deployment/nginx.conf: round robin, and one retry with the
// next instance after a failed connection or 503.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { startLocally } from './local-server.ts';

type Answer = Awaited<ReturnType<typeof request>>;

/** Hop-by-hop headers (RFC 9110 §7.6.1), and those that are set again. */
const hopHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect'];

function forwardedHeaders(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value && !hopHeaders.includes(name) ? [[name, value]] : [],
    ),
  );
}

/** Sends a request with this body to another server. */
export function forward(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  to: string,
): Promise<Answer> {
  return request(`${to}${url}`, {
    method: method as 'GET',
    headers: forwardedHeaders(headers),
    body: body.length === 0 ? null : body,
  });
}

/** Sends on the answer of another server. */
export async function giveBack(answer: Answer, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await answer.body.arrayBuffer());
  outgoing.writeHead(answer.statusCode, forwardedHeaders(answer.headers)).end(body);
}

/** Reads `upstreams` again for each request. */
export async function startBalancer(upstreams: readonly string[]) {
  let turn = 0;

  async function ask(incoming: IncomingMessage, body: Buffer): Promise<Answer | undefined> {
    const first = turn++;
    let answer: Answer | undefined;
    for (let tries = 0; tries < 2; tries++) {
      const to = upstreams[(first + tries) % upstreams.length] as string;
      const next = await forward(incoming, body, to).catch(() => undefined);
      if (next) await answer?.body.dump();
      answer = next ?? answer;
      if (answer && answer.statusCode !== 503) return answer;
    }
    return answer;
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const answer = await ask(incoming, await buffer(incoming));
    if (answer) await giveBack(answer, outgoing);
    else outgoing.writeHead(502).end();
  }

  return startLocally(
    createServer((incoming, outgoing) => {
      handle(incoming, outgoing).catch(() => outgoing.destroy());
    }),
  );
}

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;
