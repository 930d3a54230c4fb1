import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { deviceKeyHeader } from '../../service/auth/device-key-header.ts';

interface Shown {
  authorization: string;
  hash: string | undefined;
}

/** It stands on the socket: beside it, in a `WeakMap`, it would be kept until the next full collection. */
const lastShown = Symbol('lastShown');
type Showing = Socket & { [lastShown]?: Shown };

/**
 * As `deviceKeyHeader`, for requests on connections: a TV shows the same key with each of its requests, and to take it apart is a fifth of what a request for a
 * playlist takes here. What the key is good for is asked anew each time. Nothing is kept longer than the connection.
 */
export function connectionKey({
  socket,
  headers: { authorization },
}: {
  socket: Showing;
  headers: IncomingHttpHeaders;
}): string | undefined {
  const before = socket[lastShown];
  if (before !== undefined && before.authorization === authorization) return before.hash;
  const hash = deviceKeyHeader(authorization);
  if (authorization !== undefined) socket[lastShown] = { authorization, hash };
  return hash;
}
