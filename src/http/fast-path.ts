import type { IncomingMessage, ServerResponse } from 'node:http';
import { TwoPartBody } from '../domain/json/two-part-body.ts';
import { runtimeHandlers } from './handlers/runtime.ts';
import type { AppOptions } from './request/app-options.ts';
import { makeBaseUrlOf } from './request/base-url.ts';
import { readFixedLength } from './request/body.ts';
import { makeCorsHeaders } from './request/cors.ts';
import {
  clientLeftStatus,
  type HeldResponse,
  type HttpResponse,
  type ResponseReceiver,
} from './request/http-response.ts';
import { defaultBodyLimit, makeOperation } from './request/pipeline.ts';
import type { RequestContext, ServedRequest } from './request/request-context.ts';
import {
  commonHeaders,
  type LoggedRequest,
  makeDateHeader,
  makeRequestLog,
  type RequestLog,
} from './request/request-log.ts';

/** Answers a request. Otherwise calls `next` without having consumed any of the request. */
export type FastPath = (
  incoming: ServedRequest,
  outgoing: ServerResponse,
  next: () => void,
) => void;

/** One of the most frequent requests of TVs, in its standard form. */
interface Match {
  operation: 'getPlaylist' | 'getDeviceConfig' | 'getDeviceChanges' | 'postEvents';
  /** Id as written in the path. */
  id: string;
  /** Query of the path, including the `?`. */
  query?: string | undefined;
  /** Length of the body in bytes. 0 without a body. */
  length: number;
}

/** `GET` operations, by the last segment of the path. */
const readOperations = {
  playlist: 'getPlaylist',
  config: 'getDeviceConfig',
  changes: 'getDeviceChanges',
} as const;

/** Claims have paths of their own, which take precedence over ids. */
const fastPath =
  /^\/devices\/(?!claims\/)([\w-]{1,64})\/(playlist|config|events|changes)(\?[\w=&-]*)?$/;
/** Hosts that `@hono/node-server` accepts without parsing them. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;
const plainLength = /^[1-9]\d{0,6}$/;

/**
 * Returns whether each header occurs once. The fast path does not answer a request with a repeated
 * header, because Node keeps the first value, but the app joins all.
 */
function areDistinct({ headers, rawHeaders }: IncomingMessage): boolean {
  let names = 0;
  for (const _ in headers) names++;
  return 2 * names === rawHeaders.length;
}

/** Returns the `Content-Length`, or `undefined` if it is missing, malformed or above the limit. */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  const announced = headers['content-length'] ?? '';
  if (headers['transfer-encoding'] !== undefined || !plainLength.test(announced)) return undefined;
  return Number(announced) <= defaultBodyLimit ? Number(announced) : undefined;
}

/** Returns the operation and its parameters, or `undefined` if the app must answer the request. */
function matchOf(incoming: IncomingMessage): Match | undefined {
  const { method, headers } = incoming;
  if (method !== 'GET' && method !== 'POST') return undefined;
  const [, id, resource, query] = fastPath.exec(incoming.url ?? '') ?? [];
  if (query !== undefined && resource !== 'changes') return undefined;
  if (id === undefined || !plainHost.test(headers.host ?? '') || !areDistinct(incoming))
    return undefined;
  if (method === 'POST') {
    const length = resource === 'events' ? lengthOf(incoming) : undefined;
    return length === undefined ? undefined : { operation: 'postEvents', id, length };
  }
  const hasBody =
    headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (resource === 'events' || hasBody) return undefined;
  const operation = readOperations[resource as keyof typeof readOperations];
  return { operation, id, query, length: 0 };
}

const common = Object.entries(commonHeaders).flat();

function addHeaders(all: string[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) all.push(name, headers[name] as string);
}

/**
 * State shared by all requests of the fast path.
 */
interface FastPathContext {
  requestLog: RequestLog;
  date: () => string;
  /** Returns the CORS headers for an origin. `undefined` if no origins are allowed. */
  corsHeaders: ReturnType<typeof makeCorsHeaders> | undefined;
}

/**
 * A request of Node that the fast path answers. It has methods rather than closures, because
 * thousands of requests are kept while their answers are held.
 */
class NodeRequest implements RequestContext, ResponseReceiver {
  readonly incoming: ServedRequest;
  readonly outgoing: ServerResponse;
  readonly #context: FastPathContext;
  readonly #match: Match;
  readonly #logged: LoggedRequest;
  /** Passes the request to the app. */
  readonly #next: () => void;

  constructor(context: FastPathContext, outgoing: ServerResponse, match: Match, next: () => void) {
    this.#context = context;
    this.#match = match;
    this.#next = next;
    this.incoming = outgoing.req;
    this.outgoing = outgoing;
    const requestId = this.incoming.headers['x-request-id'] as string | undefined;
    this.#logged = context.requestLog.begin(requestId, this.incoming);
  }

  get client(): RequestContext['client'] {
    return this.#logged.client;
  }

  get id(): string {
    return this.#match.id;
  }

  get keyHash(): string | undefined {
    return this.incoming.keyHash;
  }

  header(name: string): string | undefined {
    return this.incoming.headers[name] as string | undefined;
  }

  query(): URLSearchParams {
    return new URLSearchParams(this.#match.query);
  }

  readBody(): Promise<Uint8Array> {
    return readFixedLength(this.incoming, this.#match.length);
  }

  /** Sends the answer, now or after its wait. */
  complete(answer: HttpResponse | HeldResponse): void {
    if ('hold' in answer) this.#hold(answer);
    else this.send(answer);
  }

  send(answer: HttpResponse): void {
    this.#write(answer);
    this.incoming.admission?.end();
    this.#end(answer.status);
  }

  fail(thrown: unknown): void {
    const { length, operation } = this.#match;
    // A rejected request may have an unread body. The app drains it.
    if (length > 0 && !this.incoming.complete) {
      this.#next();
      return;
    }
    const failed = this.#context.requestLog.fail(this.client, operation, thrown);
    const { 'Content-Type': type, ...headers } = failed.headers;
    this.send({ status: failed.status, headers, type, body: failed.text });
  }

  #hold(answer: HeldResponse): void {
    const giveUp = answer.hold(this);
    const onClose = () => {
      if (giveUp()) this.#end(clientLeftStatus);
    };
    this.outgoing.on('close', onClose);
    // The client may have disconnected during the look-up of its credential. In that case, `close`
    // has already been emitted.
    if (this.incoming.socket.destroyed) onClose();
  }

  #end(status: number): void {
    this.#context.requestLog.end(this.#logged, this.#match.operation, status);
  }

  /** Node is fastest at writing a flat array of names and values. */
  #write({ status, headers, type, body }: HttpResponse): void {
    const { outgoing, incoming } = this;
    const { date, corsHeaders } = this.#context;
    const all = ['X-Request-Id', this.client.requestId, 'Date', date(), ...common];
    addHeaders(all, headers);
    if (corsHeaders) addHeaders(all, corsHeaders(incoming.headers.origin));
    if (body === null) {
      outgoing.writeHead(status, all).end();
      return;
    }
    if (body instanceof TwoPartBody) {
      all.push('Content-Type', type, 'Content-Length', String(body.length));
      // Node sends a text together with the headers, and copies no buffer.
      outgoing.writeHead(status, all).write(body.head, 'latin1');
      outgoing.end(body.rest);
      return;
    }
    const content = body as string | Uint8Array;
    all.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(content)));
    outgoing.writeHead(status, all).end(content);
  }
}

/**
 * Returns the fast path for the most frequent requests of TVs. It passes Node's request to the
 * services and sends the answer, bypassing the app. The fast path and the app run the same
 * operations, so rules, order of checks and responses are the same, byte for byte (docs/protocol.md
 * §1.3). Returns `undefined` with fault rules, which only the app applies.
 */
export function makeFastPath(options: AppOptions): FastPath | undefined {
  const { services, metrics, corsOrigins, faultResponses } = options;
  if (faultResponses) return undefined;
  const context: FastPathContext = {
    requestLog: makeRequestLog(options),
    date: makeDateHeader(options.clock),
    corsHeaders: corsOrigins.length > 0 ? makeCorsHeaders(corsOrigins) : undefined,
  };
  const handlers = runtimeHandlers(services, metrics, makeBaseUrlOf(options));
  const run = {
    getPlaylist: makeOperation(services, 'getPlaylist', handlers.getPlaylist),
    getDeviceConfig: makeOperation(services, 'getDeviceConfig', handlers.getDeviceConfig),
    getDeviceChanges: makeOperation(services, 'getDeviceChanges', handlers.getDeviceChanges),
    postEvents: makeOperation(services, 'postEvents', handlers.postEvents),
  };

  return (incoming, outgoing, next) => {
    const match = matchOf(incoming);
    if (!match) return next();
    const exchange = new NodeRequest(context, outgoing, match, next);
    void run[match.operation](exchange).then(
      (answer) => exchange.complete(answer),
      (error) => exchange.fail(error),
    );
  };
}
