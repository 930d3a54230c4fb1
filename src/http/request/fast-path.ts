import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import { ListLimit } from '../admission/list-limit.ts';
import type { AppOptions } from '../app-options.ts';
import { runtimeHandlers } from '../handlers/runtime.ts';
import { readFixedLength } from './body.ts';
import { makeCorsHeaders } from './cors.ts';
import { type Answer, defaultBodyLimit, makeOperation } from './pipeline.ts';
import type { Exchange, ServedRequest } from './request-context.ts';
import { commonHeaders, makeRequestLog } from './request-log.ts';

/** Answers a request, or calls `next` without having consumed any of it. */
export type FastPath = (
  incoming: ServedRequest,
  outgoing: ServerResponse,
  next: () => void,
) => void;

/** One of the most frequent requests of TVs, in its standard form. */
interface Match {
  operation: 'getPlaylist' | 'getDeviceConfig' | 'getDeviceChanges' | 'postEvents';
  /** The id as written in the path. */
  id: string;
  /** The query of the path, with its `?`. */
  query?: string | undefined;
  /** Length of the body in bytes. 0 without a body. */
  length: number;
}

/** Operations of `GET` by the last segment of the path. */
const readOperations = {
  playlist: 'getPlaylist',
  config: 'getDeviceConfig',
  changes: 'getDeviceChanges',
} as const;

const fastPath = /^\/devices\/([\w-]{1,64})\/(playlist|config|events|changes)(\?[\w=&-]*)?$/;
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

/** Returns the fast-path request, or `undefined` if anything about it is unusual. */
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

/** A matching request of Node. */
class NodeExchange implements Exchange {
  readonly client: Exchange['client'];
  readonly incoming: ServedRequest;
  readonly outgoing: ServerResponse;
  readonly #match: Match;

  constructor(outgoing: ServerResponse, match: Match, client: Exchange['client']) {
    this.client = client;
    this.incoming = outgoing.req;
    this.outgoing = outgoing;
    this.#match = match;
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

  readBody(): MaybePromise<Uint8Array> {
    return readFixedLength(this.incoming, this.#match.length);
  }
}

const common = Object.entries(commonHeaders).flat();

function addHeaders(all: string[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) all.push(name, headers[name] as string);
}

/**
 * Returns the fast path: the most frequent requests of TVs go from Node's request to the services
 * and back, bypassing the app. The fast path and the app run the same operations, so rules, order
 * of checks and responses are the same, byte for byte (docs/protocol.md §1.3). Returns `undefined`
 * with fault rules, which only the app applies.
 */
export function makeFastPath(options: AppOptions): FastPath | undefined {
  const { services, metrics, corsOrigins, faultResponses } = options;
  if (faultResponses) return undefined;
  const requestLog = makeRequestLog(options);
  const corsHeaders = corsOrigins.length > 0 ? makeCorsHeaders(corsOrigins) : undefined;
  const handlers = runtimeHandlers(services, metrics, options.stopping);
  const lists = new ListLimit();
  const run = {
    getPlaylist: makeOperation(services, 'getPlaylist', handlers.getPlaylist, lists),
    getDeviceConfig: makeOperation(services, 'getDeviceConfig', handlers.getDeviceConfig, lists),
    getDeviceChanges: makeOperation(services, 'getDeviceChanges', handlers.getDeviceChanges, lists),
    postEvents: makeOperation(services, 'postEvents', handlers.postEvents, lists),
  };

  /** Node writes a flat array of names and values fastest. */
  function write({ client, incoming, outgoing }: NodeExchange, answer: Answer): void {
    const { status, headers, type, body } = answer;
    const all = ['X-Request-Id', client.requestId, ...common];
    addHeaders(all, headers);
    if (corsHeaders) addHeaders(all, corsHeaders(incoming.headers.origin));
    if (body === null) {
      outgoing.writeHead(status, all).end();
      return;
    }
    const content = body as string | Uint8Array;
    all.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(content)));
    outgoing.writeHead(status, all).end(content);
  }

  return (incoming, outgoing, next) => {
    const match = matchOf(incoming);
    if (!match) return next();
    const { operation, length } = match;
    const requestId = incoming.headers['x-request-id'] as string | undefined;
    const logged = requestLog.begin(requestId, incoming);
    const exchange = new NodeExchange(outgoing, match, logged.client);

    const send = (answer: Answer) => {
      write(exchange, answer);
      incoming.admission?.end();
      requestLog.end(logged, operation, answer.status);
    };
    const fail = (thrown: unknown) => {
      // A rejected request may have an unread body. The app drains it.
      if (length > 0 && !incoming.complete) return next();
      const { status, headers, text } = requestLog.fail(logged.client, operation, thrown);
      const { 'Content-Type': type, ...others } = headers;
      send({ status, headers: others, type, body: text });
    };
    let answer: MaybePromise<Answer>;
    try {
      answer = run[operation](exchange);
    } catch (thrown) {
      return fail(thrown);
    }
    if (answer instanceof Promise) void answer.then(send, fail);
    else send(answer);
  };
}
