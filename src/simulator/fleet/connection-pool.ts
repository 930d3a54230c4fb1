import type { Requester } from '../../client/requester.ts';

/** The connection pool that all TVs of a fleet share. */
export interface ConnectionPool {
  requester: Requester;
  /** Aborts pending requests and closes all connections. */
  close(): Promise<void>;
}

/**
 * Makes a pool of at most `connections` connections. Further requests wait for a free one.
 * `certificates` (PEM) are trusted in place of Node's own.
 */
export function makePool(
  connections: number,
  certificates: readonly string[] | undefined,
): ConnectionPool {
  let pool: ReturnType<typeof open> | undefined;

  async function open() {
    // Loaded on demand: undici is a quarter of all files of a program that only serves.
    const { Agent, request } = await import('undici');
    const agent = new Agent({
      connections,
      ...(certificates && { connect: { ca: [...certificates] } }),
    });
    // The client applies its own timeouts.
    return { agent, request, options: { headersTimeout: 0, bodyTimeout: 0, dispatcher: agent } };
  }

  return {
    async requester(url, { method, ...parts }) {
      pool ??= open();
      const { request, options } = await pool;
      return request(url, { ...parts, ...options, method: method as 'GET' });
    },
    close: async () => (await pool)?.agent.destroy(),
  };
}
