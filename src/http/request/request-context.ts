import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { IdSource } from '../../domain/id.ts';
import type { ClientInfo } from '../../service/context.ts';
import type { StatusEffect } from '../faults/fault-effect.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import type { Peer } from './client-address.ts';

/**
 * Environment of a request: its connection from the listener, or the peer that the caller of a
 * mounted `fetch` knows.
 */
export interface Bindings {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  peer?: Peer;
  /** The status that a fault rule sets in place of the service's own response. */
  statusEffect?: StatusEffect;
}

/** Variables of a request. */
interface Variables {
  client: ClientInfo & { requestId: string };
  /** The operation, for log and metrics. */
  operation: MeteredOperation;
}

export type App = { Bindings: Bindings; Variables: Variables };
export type Ctx = Context<App>;

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the caller's request id if it is well-formed, else a new one. */
export function requestIdOf(
  given: string | null | undefined,
  newId: IdSource,
  nowMs?: number,
): string {
  return given != null && requestIdForm.test(given) ? given : newId(nowMs);
}
