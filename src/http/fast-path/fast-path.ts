import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { DeviceCaller } from '../../service/context.ts';
import { type BodyBytes, bodyBytes } from '../../service/playlists/body-bytes.ts';
import type { AppOptions } from '../app-options.ts';
import { runtimeReplies } from '../handlers/runtime-replies.ts';
import { readAnnounced } from '../request/body.ts';
import { defaultBodyLimit, type Reply } from '../request/pipeline.ts';
import { commonHeaders, type LoggedRequest, makeRequestLog } from '../request/request-log.ts';
import { connectionKey } from './connection-key.ts';
import { type FastPathMatch, matchFastPath } from './match.ts';
import { readBatch } from './read-batch.ts';

/** Answers a request, or calls `next` before anything of it was used. */
export type FastPath = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next: () => void,
) => void;

const [common, typeName] = [Object.entries(commonHeaders).flat(), 'Content-Type'];

/** Names and values in one array are what Node writes quickest. Text is pure ASCII. */
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
 * The quick way in: what TVs send all day goes from Node's own request to the services and back, past the app. The rules, the order of checks and the
 * answers are those of the app, byte for byte, for both are made of the same parts (docs/protocol.md §1.3). `undefined` where answers depend on
 * more than the request: of a service with fault rules, or for web apps of other origins.
 */
export function makeFastPath(options: AppOptions): FastPath | undefined {
  const { services, metrics, corsOrigins, refusals } = options;
  if (corsOrigins.length > 0 || refusals) return undefined;
  const visits = makeRequestLog(options);
  const replies = runtimeReplies(services, metrics);

  function answer(
    outgoing: ServerResponse,
    visit: LoggedRequest,
    { operation }: FastPathMatch,
    reply: Reply,
  ): void {
    write(outgoing, visit.origin.requestId, 'application/json', reply);
    visits.end(visit, operation, reply.status ?? 200);
  }

  function refuse(
    outgoing: ServerResponse,
    visit: LoggedRequest,
    { operation }: FastPathMatch,
    thrown: unknown,
  ): void {
    const { status, headers, text } = visits.fail(visit.origin, operation, thrown);
    const { [typeName]: type = '', ...others } = headers;
    write(outgoing, visit.origin.requestId, type, {
      status,
      headers: others,
      body: bodyBytes(text),
    });
    visits.end(visit, operation, status);
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
    visit: LoggedRequest,
    call: FastPathMatch,
  ): void {
    let made: MaybePromise<Reply>;
    try {
      const caller = services.deviceAuth(
        connectionKey(incoming),
        { id: call.id, onlyReads: true },
        visit.origin,
      );
      made =
        caller instanceof Promise
          ? caller.then((device) => replyTo(incoming, call, device))
          : replyTo(incoming, call, caller);
    } catch (thrown) {
      refuse(outgoing, visit, call, thrown);
      return;
    }
    if (made instanceof Promise) {
      void made.then(
        (reply) => answer(outgoing, visit, call, reply),
        (thrown) => refuse(outgoing, visit, call, thrown),
      );
    } else answer(outgoing, visit, call, made);
  }

  /** `late` is how a TV is authenticated again whose body was still on its way the first time. */
  async function take(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    visit: LoggedRequest,
    call: FastPathMatch,
    {
      caller,
      late,
    }: { caller: DeviceCaller; late: (() => MaybePromise<DeviceCaller>) | undefined },
  ): Promise<void> {
    const { headers } = incoming;
    try {
      const bytes = await readAnnounced(incoming, call.length);
      const device = late ? await late() : caller;
      const { sums, sent } = readBatch(bytes, headers);
      answer(
        outgoing,
        visit,
        call,
        await replies.events(device, sums, sent, headers['idempotency-key'] as string | undefined),
      );
    } catch (thrown) {
      refuse(outgoing, visit, call, thrown);
    }
  }

  /** Who is refused has a body that nobody reads: the app knows what to do with it. */
  function post(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    visit: LoggedRequest,
    call: FastPathMatch,
    next: () => void,
  ): void {
    const authenticate = () =>
      services.deviceAuth(connectionKey(incoming), { id: call.id, onlyReads: false }, visit.origin);
    const late = incoming.complete ? undefined : authenticate;
    const proceed = (caller: DeviceCaller) =>
      void take(incoming, outgoing, visit, call, { caller, late });
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
    const call = matchFastPath(incoming, defaultBodyLimit);
    if (!call) return next();
    const visit = visits.begin(incoming.headers['x-request-id'] as string | undefined, incoming);
    if (call.operation === 'postEvents') post(incoming, outgoing, visit, call, next);
    else get(incoming, outgoing, visit, call);
  };
}
