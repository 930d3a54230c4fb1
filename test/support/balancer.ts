// A load balancer with the rules of docs/deployment/nginx.conf: round robin, and one retry with the
// next instance after a failed connection or 503.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { afterEachFile } from './clean-up.ts';

export interface Balancer {
  url: string;
  close(): Promise<void>;
}

const opened = new Set<Balancer>();
afterEachFile(() => Promise.all([...opened].map((balancer) => balancer.close())));

type Answer = Awaited<ReturnType<typeof request>>;

/** Hop-by-hop headers (RFC 9110 §7.6.1), and those that are set again. */
const hopHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect'];

export function forwardedHeaders(
  headers: IncomingMessage['headers'],
): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value && !hopHeaders.includes(name) ? [[name, value]] : [],
    ),
  );
}

/** Reads `upstreams` again for each request. */
export async function startBalancer(upstreams: readonly string[]): Promise<Balancer> {
  const dispatcher = new Agent({ connections: 128 });
  let turn = 0;

  async function ask(incoming: IncomingMessage, body: Buffer): Promise<Answer | undefined> {
    const first = turn++;
    let answer: Answer | undefined;
    for (let tries = 0; tries < 2; tries++) {
      const url = `${upstreams[(first + tries) % upstreams.length]}${incoming.url}`;
      const headers = forwardedHeaders(incoming.headers);
      const sent = {
        method: incoming.method as 'GET',
        headers,
        body: body.length === 0 ? null : body,
        dispatcher,
      };
      const next = await request(url, sent).catch(() => undefined);
      if (next) await answer?.body.dump();
      answer = next ?? answer;
      if (answer && answer.statusCode !== 503) return answer;
    }
    return answer;
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const answer = await ask(incoming, await buffer(incoming));
    if (!answer) return void outgoing.writeHead(502).end();
    const body = Buffer.from(await answer.body.arrayBuffer());
    outgoing.writeHead(answer.statusCode, forwardedHeaders(answer.headers)).end(body);
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    async close() {
      opened.delete(balancer);
      server.close();
      server.closeAllConnections();
      await dispatcher.destroy();
    },
  };
  opened.add(balancer);
  return balancer;
}
