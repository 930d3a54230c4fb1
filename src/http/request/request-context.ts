import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { IdSource } from '../../domain/id.ts';
import type { ClientInfo } from '../../service/context.ts';
import type { Refusal } from '../faults/fault-effect.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import type { Peer } from './client-address.ts';

/**
 * What the app is given beside the request: by the listener its connection, by a mounted `fetch`
 * what its caller knows of one.
 */
export interface Bindings {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  peer?: Peer;
  /** What a fault rule puts in place of the service's own answer. */
  refusal?: Refusal;
}

/** What is known of each request once it has arrived. */
interface Variables {
  origin: ClientInfo & { requestId: string };
  /** The operation that answers, for log and metrics. */
  operation: MeteredOperation;
}

export type App = { Bindings: Bindings; Variables: Variables };
export type Ctx = Context<App>;

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's request id when it is well-formed, else ours. */
export function requestIdOf(
  given: string | null | undefined,
  newId: IdSource,
  nowMs?: number,
): string {
  return given != null && requestIdForm.test(given) ? given : newId(nowMs);
}
