import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { limitInformational } from '../domain/informational-answers.ts';
import { userAgent } from '../package/user-agent.ts';
import { type HttpProxy, makeTunnelAgent, nodeHttp } from './proxy-tunnel.ts';
import type { MakeRequester, RequestParts, RequestReply } from './requester.ts';

/** A response of `node:http`. */
export interface NodeReply extends RequestReply {
  headers: IncomingHttpHeaders;
  body: IncomingMessage;
}

/** Sends requests with `node:http`. */
export type NodeRequester = (url: string, parts: RequestParts) => Promise<NodeReply>;

function send(agent: Agent, url: URL, { body, ...parts }: RequestParts): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const headers = { ...parts.headers, ...length };
    const outgoing = nodeHttp(url.protocol).request(url, { ...parts, headers, agent }, resolve);
    limitInformational(outgoing);
    outgoing.on('error', reject);
    // Node reports neither a response nor an error for a 101, which closes the connection.
    outgoing.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    outgoing.end(body ?? undefined);
  });
}

/**
 * Sends requests with `node:http`. Starts faster than undici, for programs that send only a few
 * requests. `proxyFor` returns the proxy for a URL; `undefined`: none. Without `keepAlive`, each
 * request has a connection of its own. `lookup` resolves the host names of direct connections.
 */
export const nodeRequesterThrough =
  (proxyFor: (url: URL) => HttpProxy | undefined, keepAlive = true, lookup?: LookupFunction) =>
  async (certificates: readonly string[] | undefined): Promise<NodeRequester> => {
    const agent = userAgent();
    const agents = new Map<string, Agent>();
    const connection = {
      keepAlive,
      ...(certificates && { ca: [...certificates] }),
      ...(lookup && { lookup }),
    };

    function agentFor(url: URL): Agent {
      const { protocol } = url;
      const proxy = proxyFor(url);
      const key = `${protocol} ${proxy?.url.href ?? ''}`;
      const existing = agents.get(key);
      if (existing) return existing;
      const created = proxy
        ? makeTunnelAgent(proxy, protocol, connection)
        : new (nodeHttp(protocol).Agent)(connection);
      agents.set(key, created);
      return created;
    }

    return async (url, parts) => {
      const target = new URL(url);
      const headers = { 'user-agent': agent, ...parts.headers };
      const body = await send(agentFor(target), target, { ...parts, headers });
      return { statusCode: body.statusCode ?? 0, headers: body.headers, body };
    };
  };

/** Sends requests with `node:http`, without a proxy. */
export const makeNodeRequester: MakeRequester = nodeRequesterThrough(() => undefined);
