import type { Agent, request as httpRequest, IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { MakeRequester, Requester, RequestParts } from './requester.ts';

type Send = typeof httpRequest;

/** An import would look at all that `node:http` exports, for which Node 22 and later load the whole of their fetch: 30 ms. */
const require = createRequire(import.meta.url);

function send(
  request: Send,
  agent: Agent,
  url: string,
  { body, ...parts }: RequestParts,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length: Record<string, number> =
      body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const sending = request(
      url,
      { ...parts, headers: { ...parts.headers, ...length }, agent },
      resolve,
    );
    sending.on('error', reject);
    sending.end(body ?? undefined);
  });
}

/** The quick way, for programs that live for a few requests: Node's own client is there at once, where undici takes its time to load and to end. */
export const makeNodeRequester: MakeRequester = async (certificates) => {
  const agents = new Map<string, { request: Send; agent: Agent }>();
  const connection = { keepAlive: true, ...(certificates && { ca: [...certificates] }) };

  function agentFor(protocol: string): { request: Send; agent: Agent } {
    const known = agents.get(protocol);
    if (known) return known;
    const client = require(
      protocol === 'https:' ? 'node:https' : 'node:http',
    ) as typeof import('node:http');
    const made = { request: client.request, agent: new client.Agent(connection) };
    agents.set(protocol, made);
    return made;
  }

  const requester: Requester = async (url, parts) => {
    const { request, agent } = agentFor(new URL(url).protocol);
    const answer = await send(request, agent, url, parts);
    return { statusCode: answer.statusCode ?? 0, headers: answer.headers, body: answer };
  };
  return requester;
};
