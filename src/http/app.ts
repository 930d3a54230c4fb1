import { Hono, type MiddlewareHandler } from 'hono';
import { SignageError } from '../domain/error.ts';
import { type OperationId, operations } from '../wire/operations/operations.ts';
import { docsPaths, docsRoutes } from './docs/docs-routes.ts';
import { claimHandlers } from './handlers/claims.ts';
import { loginHandlers } from './handlers/logins.ts';
import { managementHandlers } from './handlers/management.ts';
import { mediaHandlers } from './handlers/media.ts';
import { registrationMiddleware, runtimeHandlers } from './handlers/runtime.ts';
import { systemRoutes } from './handlers/system.ts';
import { mediaRoutes } from './media/media-routes.ts';
import { playerPaths, playerRoutes } from './player/player-routes.ts';
import type { AppOptions } from './request/app-options.ts';
import { makeBaseUrlOf } from './request/base-url.ts';
import { isCompressible, makeCompressAnswer } from './request/compression.ts';
import { corsMiddleware } from './request/cors.ts';
import { fetchRoute, methodNotAllowed, setOperation } from './request/fetch-adapter.ts';
import { ListLimit } from './request/list-limit.ts';
import { mountedLocation, mountPathOf } from './request/mount-path.ts';
import { type Handlers, makeOperation } from './request/pipeline.ts';
import type { App, Ctx, RequestContext } from './request/request-context.ts';
import {
  commonHeaders,
  makeDateHeader,
  makeRequestLog,
  type RequestLog,
} from './request/request-log.ts';
import { makeOriginCheck, needsNoCredential } from './request/request-origin.ts';

/**
 * Returns the error for a request whose connection was reset. The request is rejected, because no
 * limit per address can count it: its address is unknown by then.
 */
const connectionGone = () =>
  new SignageError('malformed_request', 'The connection was closed before its request was read.');

/**
 * Returns middleware that logs each request, and adds the common headers to its response. Adds the
 * mount path to a `Location`.
 */
function requestLogging(
  requestLog: RequestLog,
  { publicUrl, clock }: AppOptions,
): MiddlewareHandler<App> {
  const mountPath = mountPathOf(publicUrl);
  const date = makeDateHeader(clock);
  return async (context, next) => {
    const { incoming, peer, faults } = context.env ?? {};
    const logged = requestLog.begin(context.req.raw.headers.get('x-request-id'), incoming ?? peer);
    logged.client.faults = faults;
    context.set('client', logged.client);
    context.set('operation', 'none');
    if ((incoming ?? peer) && logged.client.address === null) throw connectionGone();
    await next();
    const { headers, status } = context.res;
    headers.set('X-Request-Id', logged.client.requestId);
    headers.set('Date', date());
    for (const [name, value] of Object.entries(commonHeaders))
      if (!headers.has(name)) headers.set(name, value);
    const location = mountPath === '' ? null : headers.get('location');
    if (location !== null)
      headers.set('Location', mountedLocation(mountPath, location, context.req.path));
    requestLog.end(logged, context.var.operation, status);
  };
}

/** Sorts paths for matching: a literal segment comes before `:id`. */
function literalFirst(paths: Iterable<string>): string[] {
  const rank = (path: string) => path.replaceAll(/:\w+/g, '\uffff');
  return [...new Set(paths)].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function operationRoutes(app: Hono<App>, options: AppOptions, handlers: Handlers): void {
  const { services, compression } = options;
  const checkOrigin = makeOriginCheck(options);
  const lists = new ListLimit();
  const compress = compression ? makeCompressAnswer() : undefined;
  const entries = Object.entries(operations) as [OperationId, (typeof operations)[OperationId]][];
  for (const path of literalFirst(entries.map(([, { path: operationPath }]) => operationPath))) {
    const sharingPath = entries.filter(([, operation]) => operation.path === path);
    for (const [id, operation] of sharingPath) {
      const run = makeOperation(services, id, handlers[id] as Handlers[typeof id], lists);
      const checked = (request: RequestContext) => {
        checkOrigin(request);
        return run(request);
      };
      const answer = needsNoCredential(operation) ? checked : run;
      const route = fetchRoute(id, answer, isCompressible(operation) ? compress : undefined);
      app.on(operation.method, path, route);
    }
    methodNotAllowed(
      app,
      path,
      sharingPath.map(([, { method }]) => method),
    );
  }
}

/**
 * Returns the service as a Hono app. It serves the operations of the API, and all other paths
 * (docs/protocol.md §7).
 */
export function makeApp(options: AppOptions): Hono<App> {
  const { services, metrics, corsOrigins } = options;
  const app = new Hono<App>();
  const requestLog = makeRequestLog(options);
  const fail = (context: Ctx, thrown: unknown) => {
    const { status, headers, text } = requestLog.fail(
      context.var.client,
      context.var.operation,
      thrown,
    );
    return new Response(text, { status, headers });
  };
  app.onError((error, context) => fail(context, error));
  app.notFound((context) =>
    fail(
      context,
      new SignageError('not_found', 'There is nothing at this path. See /docs for the API.'),
    ),
  );
  app.use('*', requestLogging(requestLog, options));
  if (corsOrigins.length > 0) app.use('*', corsMiddleware(corsOrigins));
  if (options.faultResponses) app.use('*', options.faultResponses);
  app.use('/devices/register', registrationMiddleware(metrics));
  const baseUrlOf = makeBaseUrlOf(options);
  operationRoutes(app, options, {
    ...runtimeHandlers(services, metrics, baseUrlOf),
    ...managementHandlers(services, options.stopping, baseUrlOf),
    ...claimHandlers(services, options.stopping),
    ...loginHandlers(services, options.stopping),
    ...mediaHandlers(services),
  });
  systemRoutes(app, options);
  app.use('/docs/*', setOperation('docs'));
  app.route('/', docsRoutes(options.compression) as unknown as Hono<App>);
  for (const path of docsPaths) methodNotAllowed(app, path, ['GET']);
  if (options.player) {
    const mountPath = mountPathOf(options.publicUrl);
    const player = playerRoutes({ compression: options.compression, mountPath });
    app.use('/player/*', setOperation('player'));
    app.route('/', player as unknown as Hono<App>);
    for (const path of playerPaths()) methodNotAllowed(app, path, ['GET']);
  }
  mediaRoutes(app, services, options.clock);
  app.use('/media/*', setOperation('media'));
  return app;
}
