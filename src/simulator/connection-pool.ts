import { Agent, request } from 'undici';
import type { Requester } from '../client/requester.ts';

/** The connections that all TVs of a fleet share. */
export interface ConnectionPool {
  requester: Requester;
  /** Breaks off what is under way, and lets go of all connections. */
  close(): Promise<void>;
}

/** So many connections at most; what is more waits for one. `certificates` (PEM) are trusted in place of Node's own. */
export function makePool(connections: number, certificates: readonly string[] | undefined): ConnectionPool {
  const agent = new Agent({ connections, ...(certificates && { connect: { ca: [...certificates] } }) });
  // Time-outs are the client's business.
  const own = { headersTimeout: 0, bodyTimeout: 0, dispatcher: agent };
  return {
    requester: (url, { method, ...parts }) => request(url, { ...parts, ...own, method: method as 'GET' }),
    close: () => agent.destroy(),
  };
}
