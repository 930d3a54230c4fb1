import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { StatusEffect } from '../../faults/faults.ts';
import type { ClientInfo, RequestSubject } from '../../service/context.ts';
import type { GuessQuota } from '../../service/guesses/rate-policy.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import type { Peer } from './client-address.ts';
import type { ProblemParts } from './problem.ts';

/** A request of the listener, with data that is determined before the request is handled. */
export type ServedRequest = IncomingMessage & {
  /** The body, if it was buffered. `@hono/node-server` reads the same property. */
  rawBody?: Buffer;
  /** Sends `100 Continue`. Set if the client waits for `100 Continue` before it sends the body. */
  sendContinue?: () => void;
  /** Hash of the device key, if the key is well-formed and its hash was already computed. */
  keyHash?: string | undefined;
  /** Whether the credential was verified recently, if this was already determined. */
  isKnown?: boolean;
  /** Whether the body may take long to arrive: the listener then sets no time-out. */
  hasLongBody?: boolean;
  /** Absent if the request never counts towards overload. */
  admission?: Admission;
};

export interface Admission {
  /** Called when the credential of the request is verified. */
  verified(): void;
  /** Called when the request no longer counts towards overload: after its answer, or earlier. */
  end(): void;
}

/** The client of a request. For requests of TVs, it includes the data for the log for operators. */
export interface RequestClient extends ClientInfo, RequestSubject {
  requestId: string;
  /** The error response, if the request failed or was rejected. */
  problem?: Pick<ProblemParts, 'code' | 'detail'> | undefined;
  /** The texts of the fault rules that apply. */
  faults?: readonly string[] | undefined;
  /** Whether the request is a long poll. The duration of long polls is not measured. */
  isHeld: boolean;
}

/**
 * A request as the handlers see it. There is one adapter for requests of the Fetch API, and one for
 * requests of Node.
 */
export interface RequestContext {
  readonly client: RequestClient;
  /** The id or code in the path. */
  readonly id: string;
  /** Hash of the device key, if it was already computed. */
  readonly keyHash?: string | undefined;
  /** The connection. A mounted `fetch` has no connection. */
  readonly incoming: ServedRequest | undefined;
  readonly outgoing: ServerResponse | undefined;
  /** Hono's context. Only requests of the Fetch API have a context. */
  readonly context?: Ctx;
  /** Returns a header by its name in lower case. */
  header(name: string): string | undefined;
  query(): URLSearchParams;
  /** Throws `body_too_large` above `limit` bytes. */
  readBody(limit: number): Promise<Uint8Array>;
}

/**
 * Environment of a request: its connection from the listener, or the peer that the caller of a
 * mounted `fetch` gives.
 */
export interface Bindings {
  incoming?: ServedRequest;
  outgoing?: ServerResponse;
  peer?: Peer;
  /** The texts of the fault rules that apply. Unset without a fault. */
  faults?: readonly string[];
  /** Status of a fault rule that replaces the service's own response. Unset without a fault. */
  statusEffect?: StatusEffect;
}

export type FetchHandler = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

/** Variables of Hono's context. */
interface ContextVariables {
  client: RequestClient;
  /** The operation, for log and metrics. */
  operation: MeteredOperation;
  /** The quota of the source of a registration. Unset if the code was not looked up. */
  guessQuota?: GuessQuota;
}

export type App = { Bindings: Bindings; Variables: ContextVariables };
export type Ctx = Context<App>;
