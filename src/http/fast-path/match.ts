import type { IncomingMessage } from 'node:http';

/** One of the requests that TVs send all day, in the form in which they send it. */
export interface FastPathMatch {
  operation: 'getPlaylist' | 'getDeviceConfig' | 'postEvents';
  /** As it stands in the path. */
  id: string;
  /** Bytes of its body; 0 for none. */
  length: number;
}

const hotPath = /^\/devices\/([\w-]{1,64})\/(playlist|config|events)$/;
/** What `@hono/node-server` takes without a closer look, too. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;
const plainLength = /^[1-9]\d{0,6}$/;

/** Whether each header came once: of others, Node keeps the first, and the app joins them. */
function areDistinct({ headers, rawHeaders }: IncomingMessage): boolean {
  let names = 0;
  for (const _ in headers) names++;
  return 2 * names === rawHeaders.length;
}

/** The announced length of a body of at most `limit` bytes; `undefined` for all else. */
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

/** What a request asks for, if it is one of the hot ones; whatever is unusual about one makes it none. */
export function matchFastPath(
  incoming: IncomingMessage,
  bodyLimit: number,
): FastPathMatch | undefined {
  const { method, headers } = incoming;
  if (method !== 'GET' && method !== 'POST') return undefined;
  const [, id, what] = hotPath.exec(incoming.url ?? '') ?? [];
  if (id === undefined || !plainHost.test(headers.host ?? '') || !areDistinct(incoming))
    return undefined;
  if (method === 'POST') {
    const length = what === 'events' ? lengthOf(incoming, bodyLimit) : undefined;
    return length === undefined ? undefined : { operation: 'postEvents', id, length };
  }
  const hasBody =
    headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (what === 'events' || hasBody) return undefined;
  return { operation: what === 'playlist' ? 'getPlaylist' : 'getDeviceConfig', id, length: 0 };
}
