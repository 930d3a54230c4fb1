import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import type { IdSource } from '../domain/id.ts';
import type { Origin } from '../service/context.ts';
import type { Refusal } from './faults/fault-effect.ts';
import type { MeteredOperation } from './metrics.ts';

/** What the listener hands to the app beside the request; a mounted `fetch` has none of it. */
export interface Bindings {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  /** What a fault rule puts in place of the service's own answer. */
  refusal?: Refusal;
}

/** What is known of each request once it has arrived. */
interface Variables {
  origin: Origin & { requestId: string };
  /** The operation that answers, for log and metrics. */
  operation: MeteredOperation;
}

export type App = { Bindings: Bindings; Variables: Variables };
export type Ctx = Context<App>;

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's request id when it is well-formed, else ours. */
export function requestIdOf(given: string | null | undefined, newId: IdSource, nowMs?: number): string {
  return given != null && requestIdForm.test(given) ? given : newId(nowMs);
}

function normal(address: string): string | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined;
}

/** A connection keeps its address, and to read one costs as much as half of a request does. It stands on the socket: beside it, in a `WeakMap`, all would be kept until the next full collection. */
const addressOf = Symbol('address');
type Addressed = Socket & { [addressOf]?: { address: string | null } };

/**
 * Tells the caller's address: the socket's; behind proxies that are named, the last one in `X-Forwarded-For` that is none of them
 * (docs/protocol.md §3.5).
 */
export function makeAddressOf(trustedProxies: readonly string[]): (incoming: IncomingMessage | undefined) => string | null {
  const proxies = new Set(trustedProxies.map((address) => normal(address) ?? address));

  function socketAddress(socket: Addressed): string | null {
    socket[addressOf] ??= { address: normal(socket.remoteAddress ?? '') ?? null };
    return socket[addressOf].address;
  }

  return (incoming) => {
    const socket = incoming ? socketAddress(incoming.socket) : null;
    if (socket === null || !proxies.has(socket)) return socket;
    const forwarded = [incoming?.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
    for (const hop of forwarded.map((text) => normal(text.trim()))) {
      if (hop === undefined) return socket;
      if (!proxies.has(hop)) return hop;
    }
    return socket;
  };
}
