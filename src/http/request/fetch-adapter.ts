import type { ServerResponse } from 'node:http';
import type { Hono, MiddlewareHandler } from 'hono';
import { SignageError } from '../../domain/error.ts';
import { TwoPartBody } from '../../domain/json/two-part-body.ts';
import type { OperationId } from '../../wire/operations/operations.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import { readBytes } from './body.ts';
import type { CompressResponse } from './compression.ts';
import { clientLeftStatus, type HeldResponse, type HttpResponse } from './http-response.ts';
import type { App, Ctx, RequestContext, ServedRequest } from './request-context.ts';

/** A request of the Fetch API, taken from Hono's context. */
class FetchRequest implements RequestContext {
  readonly context: Ctx;
  readonly client: RequestContext['client'];
  readonly id: string;
  readonly incoming: ServedRequest | undefined;
  readonly outgoing: ServerResponse | undefined;

  constructor(context: Ctx) {
    this.context = context;
    this.client = context.var.client;
    this.id = Object.values(context.req.param())[0] ?? '';
    this.incoming = context.env?.incoming;
    this.outgoing = context.env?.outgoing;
  }

  header(name: string): string | undefined {
    return this.context.req.header(name);
  }

  query(): URLSearchParams {
    return new URL(this.context.req.url).searchParams;
  }

  readBody(limit: number): Promise<Uint8Array> {
    return readBytes(this.context.req.raw, limit, this.incoming);
  }
}

/** Resolves with the held answer, or with status 499 when the client disconnects. */
function endOfHold(
  held: HeldResponse,
  { context, incoming, outgoing }: FetchRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const giveUp = held.hold({ send: resolve, fail: reject });
    const { signal } = context.req.raw;
    const onLeft = () => {
      if (giveUp()) resolve({ status: clientLeftStatus, headers: {}, type: '', body: null });
    };
    if (outgoing) outgoing.on('close', onLeft);
    else signal.addEventListener('abort', onLeft);
    if (incoming?.socket.destroyed ?? signal.aborted) onLeft();
  });
}

/** Returns the Hono handler of an operation. `compress` compresses the responses. */
export function fetchRoute(
  id: OperationId,
  run: (request: RequestContext) => Promise<HttpResponse | HeldResponse>,
  compress?: CompressResponse,
): (context: Ctx) => Promise<Response> {
  return async (context) => {
    context.set('operation', id);
    const exchange = new FetchRequest(context);
    const outcome = await run(exchange);
    const answer = 'hold' in outcome ? await endOfHold(outcome, exchange) : outcome;
    const { status, headers, type, body } = compress
      ? await compress(answer, context.req.header('accept-encoding'))
      : answer;
    const all = body === null ? headers : { 'Content-Type': type, ...headers };
    return new Response(body instanceof TwoPartBody ? body.joined() : body, {
      status,
      headers: all,
    });
  };
}

/** Adds a route that answers 405, with the allowed methods, to all other methods of a path. */
export function methodNotAllowed(app: Hono<App>, path: string, methods: readonly string[]): void {
  const allow = [
    ...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
  ].sort();
  app.all(path, () => {
    throw new SignageError('method_not_allowed', `This path allows ${allow.join(', ')}.`, {
      allow,
    });
  });
}

/** Sets the operation for log and metrics. */
export function setOperation(operation: MeteredOperation): MiddlewareHandler<App> {
  return async (context, next) => {
    context.set('operation', operation);
    await next();
  };
}
