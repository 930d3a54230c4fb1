import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request whose headers are sent unchanged, as alternating names and values. */
export interface WireRequest {
  method: string;
  path: string;
  headers: readonly string[];
  body?: Uint8Array | undefined;
}

export interface WireAnswer {
  status: number | undefined;
  /** Lower-case names and values, sorted. */
  headers: [name: string, value: string][];
  text: string;
}

const agent = new Agent({ keepAlive: true });

/** Sends a request over a keep-alive connection, without the checks of `fetch`. */
export async function wireRequest(
  url: string,
  { method, path, headers, body }: WireRequest,
): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  const options = { agent, hostname, port, method, path, setHost: false };
  const sent = request({ ...options, headers: headers as string[] }).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const pairs = answer.rawHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name.toLowerCase(), answer.rawHeaders[at + 1] as string]] : [],
  );
  return {
    status: answer.statusCode,
    headers: pairs.sort(([a], [b]) => (a < b ? -1 : 1)),
    text: await text(answer),
  };
}
