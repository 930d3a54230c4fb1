import type { Requester } from '../../client/requester.ts';

/** The connections that all TVs of a fleet share. */
export interface ConnectionPool {
  requester: Requester;
  /** Breaks off what is under way, and lets go of all connections. */
  close(): Promise<void>;
}

/** So many connections at most; what is more waits for one. `certificates` (PEM) are trusted in place of Node's own. */
export function makePool(
  connections: number,
  certificates: readonly string[] | undefined,
): ConnectionPool {
  let made: ReturnType<typeof open> | undefined;

  async function open() {
    // Loaded where it is used: a quarter of all files of a program that only serves would be undici's.
    const { Agent, request } = await import('undici');
    const agent = new Agent({
      connections,
      ...(certificates && { connect: { ca: [...certificates] } }),
    });
    // Time-outs are the client's business.
    return { agent, request, own: { headersTimeout: 0, bodyTimeout: 0, dispatcher: agent } };
  }

  return {
    async requester(url, { method, ...parts }) {
      made ??= open();
      const { request, own } = await made;
      return request(url, { ...parts, ...own, method: method as 'GET' });
    },
    close: async () => (await made)?.agent.destroy(),
  };
}
