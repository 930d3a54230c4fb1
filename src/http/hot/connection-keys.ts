import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { shownKey } from '../../service/shown-key.ts';

interface Shown {
  authorization: string;
  hash: string | undefined;
}

/**
 * As `shownKey`, for requests on connections: a TV shows the same key with each of its requests, and to take it apart is a fifth of what a request for a
 * playlist takes here. What the key is good for is asked anew each time. Nothing is kept longer than the connection.
 */
export function makeConnectionKeys(): (incoming: IncomingMessage) => string | undefined {
  const last = new WeakMap<Socket, Shown>();
  return ({ socket, headers: { authorization } }) => {
    const before = last.get(socket);
    if (before !== undefined && before.authorization === authorization) return before.hash;
    const hash = shownKey(authorization);
    if (authorization !== undefined) last.set(socket, { authorization, hash });
    return hash;
  };
}
