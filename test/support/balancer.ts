// In front of several instances, by the rules of docs/deployment/nginx.conf: in turn, and on to the
// next one when one is not there, or says 503.
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

/** Of one hop only (RFC 9110 §7.6.1), and what is set anew. */
const ownHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect'];

function passedOn(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value && !ownHeaders.includes(name) ? [[name, value]] : [],
    ),
  );
}

/** `upstreams` are looked at anew with each request. */
export async function startBalancer(upstreams: readonly string[]): Promise<Balancer> {
  const dispatcher = new Agent({ connections: 128 });
  let turn = 0;

  async function ask(incoming: IncomingMessage, body: Buffer): Promise<Answer | undefined> {
    const first = turn++;
    let answer: Answer | undefined;
    for (let tries = 0; tries < 2; tries++) {
      const url = `${upstreams[(first + tries) % upstreams.length]}${incoming.url}`;
      const headers = passedOn(incoming.headers);
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
    outgoing.writeHead(answer.statusCode, passedOn(answer.headers)).end(body);
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
