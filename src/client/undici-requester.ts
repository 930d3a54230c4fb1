import { Agent, request } from 'undici';
import type { Requester } from './requester.ts';

/** The fast way, for programs that send many requests: undici drives several times as many as `fetch` does. */
export function makeUndiciRequester(certificates: readonly string[] | undefined): Requester {
  const dispatcher = certificates && new Agent({ connect: { ca: [...certificates] } });
  const own = { headersTimeout: 0, bodyTimeout: 0, ...(dispatcher && { dispatcher }) };
  return (url, { method, ...parts }) => request(url, { ...parts, ...own, method: method as 'GET' });
}
