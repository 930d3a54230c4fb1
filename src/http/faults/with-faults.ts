import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import { faultAnswer } from '../../faults/fault-answer.ts';
import type { FaultEffect, Faults, InjectedFaults } from '../../faults/faults.ts';
import { callOf, type TvCall, tvOperationAt } from '../../faults/tv-call.ts';
import type { AppOptions } from '../request/app-options.ts';
import type { App, Bindings, FetchHandler } from '../request/request-context.ts';
import { requestIdOf } from '../request/request-log.ts';

/** Returns the call of a TV's request. Rules hit no other requests. */
function callAt(method: string, pathname: string): TvCall | undefined {
  if (pathname.startsWith('/media/')) return 'media';
  const operation = tvOperationAt(method, pathname);
  return operation && callOf[operation];
}

/** Returns the id or word after `/devices/` in the path of a TV's request. */
const idIn = (pathname: string) => pathname.split('/')[2] ?? '';

/**
 * Answers the requests that `withFaults` has marked with a status. Passes all other requests on.
 */
export const faultResponses: MiddlewareHandler<App> = async (context, next) => {
  const effect = context.env?.statusEffect;
  if (!effect) return next();
  const { client } = context.var;
  const { method, path } = context.req;
  const operation = tvOperationAt(method, path);
  if (operation) {
    context.set('operation', operation);
    client.namedId = idIn(path);
  }
  const { code, detail, status, headers, text } = faultAnswer(effect, operation, client.requestId);
  if (code) client.problem = { code, detail };
  return new Response(text, { status, headers });
};

/**
 * Returns the error that replaces a broken connection in a mounted `fetch`, which has no connection
 * to break. The global `fetch` throws the same kind of error.
 */
const hungUp = () => new TypeError('fetch failed: a fault rule broke the connection');

/** Closes the connection without a response. */
function hangUp(outgoing: ServerResponse | undefined): Response {
  if (!outgoing) throw hungUp();
  // `end` is also needed, because a response counts as in progress until it has ended.
  outgoing.destroy().end();
  return new Response(null, RESPONSE_ALREADY_SENT);
}

function brokenStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) controller.error(hungUp());
      else controller.enqueue(bytes);
      sent = true;
    },
  });
}

/**
 * Sends the head of the response and half of its body, then closes the connection. Without a body,
 * closes the connection at once.
 */
async function breakOff(
  answer: Response,
  method: string,
  outgoing: ServerResponse | undefined,
): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length === 0 || method === 'HEAD') return hangUp(outgoing);
  const half = bytes.subarray(0, bytes.length >> 1);
  const headers = new Headers(answer.headers);
  headers.set('Content-Length', String(bytes.length));
  if (!outgoing) return new Response(brokenStream(half), { status: answer.status, headers });
  outgoing.writeHead(answer.status, Object.fromEntries(headers));
  outgoing.flushHeaders();
  outgoing.write(half, () => outgoing.destroy());
  return new Response(null, RESPONSE_ALREADY_SENT);
}

interface FaultyOptions extends Pick<AppOptions, 'services' | 'clock' | 'newId' | 'stopping'> {
  faults: Faults;
}

function delay(delayMs: number, { clock, stopping }: FaultyOptions): Promise<void> {
  return new Promise((done) => {
    if (delayMs === 0 || stopping.aborted) return done();
    const end = () => {
      cancel();
      stopping.removeEventListener('abort', end);
      done();
    };
    const cancel = clock.after(delayMs, end);
    stopping.addEventListener('abort', end);
  });
}

/** Adds a request without an answer to the log for operators. The app never receives it. */
function recordDrop(
  { method, url, headers }: Request,
  faults: readonly string[],
  { services, clock, newId }: FaultyOptions,
): void {
  const { pathname } = new URL(url);
  const operation = tvOperationAt(method, pathname);
  if (!operation) return;
  const requestId = requestIdOf(headers.get('x-request-id'), newId);
  services.requests.record(
    { namedId: idIn(pathname) },
    {
      at: clock.now(),
      operation,
      status: null,
      code: null,
      detail: null,
      faults,
      requestId,
      sequence: 0,
    },
  );
}

/**
 * Breaks the connection unless the response comes in time. To the request's handler, the client has
 * disconnected.
 */
async function cutAfter(
  { id, afterMs }: FaultEffect,
  request: Request,
  outgoing: ServerResponse | undefined,
  options: FaultyOptions,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  const disconnect = new AbortController();
  const heard = outgoing ? request : new Request(request, { signal: disconnect.signal });
  let cancel = () => {};
  const tooLate = new Promise<void>((resolve) => {
    cancel = options.clock.after(afterMs, resolve);
  });
  const inTime = await Promise.race([answer(heard), tooLate]).finally(() => cancel());
  if (inTime) return inTime;
  recordDrop(request, [id], options);
  disconnect.abort();
  return hangUp(outgoing);
}

function withoutHold(request: Request): Request {
  const url = new URL(request.url);
  url.searchParams.delete('waitSeconds');
  return new Request(url, request);
}

/**
 * Adds injected faults to the service. The app answers injected statuses, so that they look like
 * any other problem document. This function breaks connections, because it has access to them.
 * Delays come after the request was handled, so a client that times out cannot know whether its
 * request was handled.
 */
export function withFaults(answer: FetchHandler, options: FaultyOptions): FetchHandler {
  async function respond(
    request: Request,
    bindings: Bindings | undefined,
    { ids, delayMs, effect }: InjectedFaults,
  ): Promise<Response> {
    // An answer before the time-out is unchanged.
    const faults = effect?.kind === 'timeout' ? ids.filter((id) => id !== effect.id) : ids;
    const statusEffect = effect?.kind === 'status' ? { statusEffect: effect } : {};
    const heard = effect?.kind === 'at-once' ? withoutHold(request) : request;
    const response = await answer(heard, { ...bindings, faults, ...statusEffect });
    for (const rule of faults) response.headers.append('X-Signage-Fault', rule);
    await delay(delayMs, options);
    if (effect?.kind === 'lost-answer') return hangUp(bindings?.outgoing);
    return effect?.kind === 'cut-answer'
      ? breakOff(response, request.method, bindings?.outgoing)
      : response;
  }

  return async (request, bindings) => {
    const { method, url } = request;
    const call = callAt(method, new URL(url).pathname);
    const hit = call && options.faults.take(call, request);
    if (!hit) return answer(request, bindings);
    const { ids, delayMs, effect } = hit;
    if (effect?.kind === 'lost-request') {
      recordDrop(request, ids, options);
      await delay(delayMs, options);
      return hangUp(bindings?.outgoing);
    }
    if (effect?.kind !== 'timeout') return respond(request, bindings, hit);
    return cutAfter(effect, request, bindings?.outgoing, options, (heard) =>
      respond(heard, bindings, hit),
    );
  };
}
