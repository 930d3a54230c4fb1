// An HTTP proxy in front of a service, in which a test intervenes.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { forwardedHeaders } from './balancer.ts';
import { afterEachFile } from './clean-up.ts';

/** `POST /v1/venues`, with the query. */
type RequestLine = string;

export interface Interventions {
  /** Called before a request is forwarded. */
  before?(line: RequestLine): Promise<void> | void;
  /** Whether to cut the connection after the service has answered. The answer is lost. */
  loses?(line: RequestLine, headers: IncomingHttpHeaders): boolean;
}

const opened: (() => Promise<void>)[] = [];
afterEachFile(() => Promise.all(opened.splice(0).map((close) => close())));

/** Starts a proxy. It is closed after the tests of the file. */
export async function startProxy(target: string, { before, loses }: Interventions) {
  const dispatcher = new Agent();
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const line = `${incoming.method} ${incoming.url}`;
    const body = await buffer(incoming);
    await before?.(line);
    const answer = await request(`${target}${incoming.url}`, {
      method: incoming.method as 'GET',
      headers: forwardedHeaders(incoming.headers),
      body: body.length === 0 ? null : body,
      dispatcher,
    });
    const content = Buffer.from(await answer.body.arrayBuffer());
    if (loses?.(line, incoming.headers)) return void incoming.socket.destroy();
    outgoing.writeHead(answer.statusCode, forwardedHeaders(answer.headers)).end(content);
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(async () => {
    server.close();
    server.closeAllConnections();
    await dispatcher.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
