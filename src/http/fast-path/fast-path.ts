import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { DeviceCaller } from '../../service/context.ts';
import { type BodyBytes, bodyBytes } from '../../service/playlists/body-bytes.ts';
import type { AppOptions } from '../app-options.ts';
import { runtimeReplies } from '../handlers/runtime-replies.ts';
import { readFixedLength } from '../request/body.ts';
import { defaultBodyLimit, type Reply } from '../request/pipeline.ts';
import { commonHeaders, type LoggedRequest, makeRequestLog } from '../request/request-log.ts';
import { cachedKeyHash } from './cached-key-hash.ts';
import { type FastPathMatch, matchFastPath } from './match.ts';
import { readBatch } from './read-batch.ts';

/** Answers a request, or calls `next` without having consumed any of it. */
export type FastPath = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next: () => void,
) => void;

const common = Object.entries(commonHeaders).flat();
const typeName = 'Content-Type';

/**
 * Writes the response. Node writes a flat array of names and values fastest. The body is pure
 * ASCII.
 */
function write(
  outgoing: ServerResponse,
  requestId: string,
  type: string,
  { status = 200, headers = {}, body = null }: Reply,
): void {
  const all: string[] = ['X-Request-Id', requestId, ...common];
  for (const name in headers) all.push(name, headers[name] as string);
  if (body === null) {
    outgoing.writeHead(status, all).end();
    return;
  }
  const content = body as BodyBytes;
  all.push(typeName, type, 'Content-Length', String(content.length));
  outgoing.writeHead(status, all).end(content, 'latin1');
}

/**
 * Returns the fast path: the most frequent requests of TVs go from Node's request to the services
 * and back, bypassing the app. Rules, order of checks and responses are the same as in the app,
 * byte for byte. Both use the same parts (docs/protocol.md §1.3). Returns `undefined` if responses
 * depend on more than the request: with fault rules or CORS origins.
 */
export function makeFastPath(options: AppOptions): FastPath | undefined {
  const { services, metrics, corsOrigins, faultResponses } = options;
  if (corsOrigins.length > 0 || faultResponses) return undefined;
  const requestLog = makeRequestLog(options);
  const replies = runtimeReplies(services, metrics);

  function answer(
    outgoing: ServerResponse,
    logged: LoggedRequest,
    { operation }: FastPathMatch,
    reply: Reply,
  ): void {
    write(outgoing, logged.client.requestId, 'application/json', reply);
    requestLog.end(logged, operation, reply.status ?? 200);
  }

  function fail(
    outgoing: ServerResponse,
    logged: LoggedRequest,
    { operation }: FastPathMatch,
    thrown: unknown,
  ): void {
    const { status, headers, text } = requestLog.fail(logged.client, operation, thrown);
    const { [typeName]: type = '', ...others } = headers;
    write(outgoing, logged.client.requestId, type, {
      status,
      headers: others,
      body: bodyBytes(text),
    });
    requestLog.end(logged, operation, status);
  }

  function replyTo(
    { headers }: IncomingMessage,
    { operation }: FastPathMatch,
    device: DeviceCaller,
  ): MaybePromise<Reply> {
    const reply = operation === 'getPlaylist' ? replies.playlist : replies.config;
    return reply(device, headers['if-none-match']);
  }

  function get(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    logged: LoggedRequest,
    match: FastPathMatch,
  ): void {
    let reply: MaybePromise<Reply>;
    try {
      const caller = services.deviceAuth(
        cachedKeyHash(incoming),
        { id: match.id, onlyReads: true },
        logged.client,
      );
      reply =
        caller instanceof Promise
          ? caller.then((device) => replyTo(incoming, match, device))
          : replyTo(incoming, match, caller);
    } catch (thrown) {
      fail(outgoing, logged, match, thrown);
      return;
    }
    if (reply instanceof Promise) {
      void reply.then(
        (reply) => answer(outgoing, logged, match, reply),
        (thrown) => fail(outgoing, logged, match, thrown),
      );
    } else answer(outgoing, logged, match, reply);
  }

  /**
   * `reauthenticate` is set if the body was incomplete at the first authentication, and repeats it.
   */
  async function acceptBatch(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    logged: LoggedRequest,
    match: FastPathMatch,
    {
      caller,
      reauthenticate,
    }: { caller: DeviceCaller; reauthenticate: (() => MaybePromise<DeviceCaller>) | undefined },
  ): Promise<void> {
    const { headers } = incoming;
    try {
      const bytes = await readFixedLength(incoming, match.length);
      const device = reauthenticate ? await reauthenticate() : caller;
      const { sums, sent } = readBatch(bytes, headers);
      answer(
        outgoing,
        logged,
        match,
        await replies.events(device, sums, sent, headers['idempotency-key'] as string | undefined),
      );
    } catch (thrown) {
      fail(outgoing, logged, match, thrown);
    }
  }

  /** Rejected requests may still have an unread body. The app drains it. */
  function post(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    logged: LoggedRequest,
    match: FastPathMatch,
    next: () => void,
  ): void {
    const authenticate = () =>
      services.deviceAuth(
        cachedKeyHash(incoming),
        { id: match.id, onlyReads: false },
        logged.client,
      );
    const reauthenticate = incoming.complete ? undefined : authenticate;
    const proceed = (caller: DeviceCaller) =>
      void acceptBatch(incoming, outgoing, logged, match, { caller, reauthenticate });
    let caller: MaybePromise<DeviceCaller>;
    try {
      caller = authenticate();
    } catch {
      next();
      return;
    }
    if (caller instanceof Promise) void caller.then(proceed, next);
    else proceed(caller);
  }

  return (incoming, outgoing, next) => {
    const match = matchFastPath(incoming, defaultBodyLimit);
    if (!match) return next();
    const logged = requestLog.begin(
      incoming.headers['x-request-id'] as string | undefined,
      incoming,
    );
    if (match.operation === 'postEvents') post(incoming, outgoing, logged, match, next);
    else get(incoming, outgoing, logged, match);
  };
}
