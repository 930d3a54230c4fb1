// An HTTP proxy in front of a service, in which a test intervenes.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { forward, giveBack } from './balancer.ts';
import { startLocally } from './local-server.ts';

/** `POST /v1/venues`, with the query. */
type RequestLine = string;

export interface Interventions {
  /**
   * Called before a request is forwarded. If it throws, the connection is cut. If it returns a
   * status, the proxy answers with it.
   */
  before?(line: RequestLine, body: Buffer): unknown;
  /** Whether to cut the connection after the service has answered. The answer is lost. */
  loses?(line: RequestLine, headers: IncomingHttpHeaders): boolean;
}

/** Starts a proxy. It is closed after the tests of the file. */
export async function startProxy(target: string, { before, loses }: Interventions) {
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const line = `${incoming.method} ${incoming.url}`;
    const body = await buffer(incoming);
    const status = await before?.(line, body);
    if (typeof status === 'number') return void outgoing.writeHead(status).end();
    const answer = await forward(incoming, body, target);
    if (!loses?.(line, incoming.headers)) return giveBack(answer, outgoing);
    await answer.body.dump();
    incoming.socket.destroy();
  };
  return startLocally(
    createServer((incoming, outgoing) => {
      handle(incoming, outgoing).catch(() => incoming.socket.destroy());
    }),
  );
}
