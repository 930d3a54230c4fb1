import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { SignageError } from '../domain/error.ts';
import type { Services } from '../service/services.ts';
import { type OperationId, operations } from '../wire/operations.ts';
import { ListLimit } from './admission/list-limit.ts';
import type { AppOptions } from './app-options.ts';
import { docsPaths, docsRoutes } from './docs/docs-routes.ts';
import { managementHandlers } from './handlers/management.ts';
import { runtimeHandlers } from './handlers/runtime.ts';
import { systemRoutes } from './handlers/system.ts';
import type { Metrics } from './metrics/metrics.ts';
import { metered, otherMethods } from './request/method-routes.ts';
import { type Handlers, makeRoute } from './request/pipeline.ts';
import type { App, Ctx } from './request/request-context.ts';
import { commonHeaders, makeRequestLog, type RequestLog } from './request/request-log.ts';

/** What web TV apps may read of an answer from another origin. */
const exposedHeaders = [
  ...[
    'X-Playlist-Version',
    'X-Source',
    'X-Config-Source',
    'ETag',
    'Retry-After',
    'X-Request-Id',
    'Location',
  ],
  // Of a service that misbehaves on purpose: this is how the test of a web TV app tells whose fault an answer is.
  'X-Signage-Fault',
];
const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const allowedHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'X-Request-Id',
  'X-Tenant-Id',
];

/**
 * A connection that was reset has no address any more. Its requests would not count for the address
 * that they came from.
 */
const connectionGone = () =>
  new SignageError('malformed_request', 'The connection was closed before its request was read.');

/** Lets each request in, and gives its answer the headers that all have. */
function arrival(visits: RequestLog): MiddlewareHandler<App> {
  return async (context, next) => {
    const { incoming, peer } = context.env ?? {};
    const visit = visits.begin(context.req.raw.headers.get('x-request-id'), incoming ?? peer);
    context.set('origin', visit.origin);
    context.set('operation', 'none');
    if ((incoming ?? peer) && visit.origin.address === null) throw connectionGone();
    await next();
    const { headers, status } = context.res;
    headers.set('X-Request-Id', visit.origin.requestId);
    for (const [name, value] of Object.entries(commonHeaders)) headers.set(name, value);
    visits.end(visit, context.var.operation, status);
  };
}

/** Paths in the order in which they must be tried: what stands literally in one wins over `:id`. */
function literalFirst(paths: Iterable<string>): string[] {
  const rank = (path: string) => path.replaceAll(/:\w+/g, '\uffff');
  return [...new Set(paths)].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function operationRoutes(app: Hono<App>, services: Services, handlers: Handlers): void {
  const lists = new ListLimit();
  const entries = Object.entries(operations) as [OperationId, (typeof operations)[OperationId]][];
  for (const path of literalFirst(entries.map(([, { path: operationPath }]) => operationPath))) {
    const here = entries.filter(([, operation]) => operation.path === path);
    for (const [id, { method }] of here)
      app.on(method, path, makeRoute(services, id, handlers[id] as Handlers[typeof id], lists));
    otherMethods(
      app,
      path,
      here.map(([, { method }]) => method),
    );
  }
}

/** The service as a Hono app: the operations of the table, and what stands beside them (docs/protocol.md §7). */
export function makeApp(options: AppOptions): Hono<App> {
  const { services, metrics, corsOrigins, extra } = options;
  const app = new Hono<App>();
  const visits = makeRequestLog(options);
  const fail = (context: Ctx, thrown: unknown) => {
    const { status, headers, text } = visits.fail(
      context.var.origin,
      context.var.operation,
      thrown,
    );
    return new Response(text, { status, headers });
  };
  app.onError((error, context) => fail(context, error));
  app.notFound((context) =>
    fail(
      context,
      new SignageError('not_found', 'There is nothing at this path: see /docs for what there is.'),
    ),
  );
  app.use('*', arrival(visits));
  if (corsOrigins.length > 0) {
    const origin = corsOrigins.includes('*') ? '*' : [...corsOrigins];
    app.use(
      '*',
      cors({
        origin,
        allowMethods,
        allowHeaders: allowedHeaders,
        exposeHeaders: exposedHeaders,
        maxAge: 600,
      }),
    );
  }
  if (options.refusals) app.use('*', options.refusals);
  app.use('/devices/register', countRefusals(metrics));
  operationRoutes(app, services, {
    ...runtimeHandlers(services, metrics),
    ...managementHandlers(services, options.stopping),
  });
  systemRoutes(app, options);
  app.use('/docs/*', metered('docs'));
  app.route('/', docsRoutes() as unknown as Hono<App>);
  for (const path of docsPaths) otherMethods(app, path, ['GET']);
  app.use('/media/*', metered('media'));
  if (extra) app.route('/', extra as unknown as Hono<App>);
  return app;
}

/** Registrations that were not to be, by why. */
function countRefusals(metrics: Metrics): MiddlewareHandler<App> {
  return async (context, next) => {
    await next();
    if (context.var.operation !== 'registerDevice' || context.res.status < 400) return;
    metrics.registration(context.res.status === 429 ? 'locked_out' : 'refused');
  };
}
