import { Agent, request } from 'undici';
import type { Requester } from './requester.ts';

/** Sends requests with undici, which has several times the throughput of `fetch`. */
export function makeUndiciRequester(certificates: readonly string[] | undefined): Requester {
  const dispatcher = certificates && new Agent({ connect: { ca: [...certificates] } });
  const common = { headersTimeout: 0, bodyTimeout: 0, ...(dispatcher && { dispatcher }) };
  return (url, { method, ...parts }) =>
    request(url, { ...parts, ...common, method: method as 'GET' });
}
