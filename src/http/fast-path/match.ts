import type { IncomingMessage } from 'node:http';

/** One of the most frequent requests of TVs, in its standard form. */
export interface FastPathMatch {
  operation: 'getPlaylist' | 'getDeviceConfig' | 'postEvents';
  /** The id as written in the path. */
  id: string;
  /** Length of the body in bytes. 0 without a body. */
  length: number;
}

const fastPath = /^\/devices\/([\w-]{1,64})\/(playlist|config|events)$/;
/** Hosts that `@hono/node-server` accepts without parsing them. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;
const plainLength = /^[1-9]\d{0,6}$/;

/**
 * Returns whether each header occurs once. For a repeated header, Node keeps the first value and
 * the app joins all.
 */
function areDistinct({ headers, rawHeaders }: IncomingMessage): boolean {
  let names = 0;
  for (const _ in headers) names++;
  return 2 * names === rawHeaders.length;
}

/** Returns the `Content-Length`, or `undefined` if it is missing, malformed or above `limit`. */
function lengthOf({ headers }: IncomingMessage, limit: number): number | undefined {
  const announced = headers['content-length'];
  if (
    announced === undefined ||
    headers['transfer-encoding'] !== undefined ||
    !plainLength.test(announced)
  )
    return undefined;
  return Number(announced) <= limit ? Number(announced) : undefined;
}

/** Returns the fast-path request, or `undefined` if anything about it is unusual. */
export function matchFastPath(
  incoming: IncomingMessage,
  bodyLimit: number,
): FastPathMatch | undefined {
  const { method, headers } = incoming;
  if (method !== 'GET' && method !== 'POST') return undefined;
  const [, id, resource] = fastPath.exec(incoming.url ?? '') ?? [];
  if (id === undefined || !plainHost.test(headers.host ?? '') || !areDistinct(incoming))
    return undefined;
  if (method === 'POST') {
    const length = resource === 'events' ? lengthOf(incoming, bodyLimit) : undefined;
    return length === undefined ? undefined : { operation: 'postEvents', id, length };
  }
  const hasBody =
    headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (resource === 'events' || hasBody) return undefined;
  return { operation: resource === 'playlist' ? 'getPlaylist' : 'getDeviceConfig', id, length: 0 };
}
