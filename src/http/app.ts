import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { LogSink } from '../domain/log.ts';
import type { Services } from '../service/services.ts';
import { type OperationId, operations } from '../wire/operations.ts';
import type { AppOptions } from './app-options.ts';
import { type App, type Ctx, makeAddressOf, requestIdOf } from './arrival.ts';
import { docsRoutes } from './docs/docs-routes.ts';
import { managementHandlers } from './management-handlers.ts';
import { metered, otherMethods } from './method-routes.ts';
import type { Metrics } from './metrics.ts';
import { type Handlers, makeRoute } from './pipeline.ts';
import { asSignageError, problem } from './problem.ts';
import { runtimeHandlers } from './runtime-handlers.ts';
import { systemRoutes } from './system-routes.ts';

/** What web TV apps may read of an answer from another origin. */
const exposedHeaders = ['X-Playlist-Version', 'X-Source', 'X-Config-Source', 'ETag', 'Retry-After', 'X-Request-Id', 'Location'];
const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const allowedHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'X-Request-Id', 'X-Tenant-Id'];

/** Answers for a thrown thing, and tells the log of what is ours to mend. */
function makeFail(log: LogSink) {
  return (context: Ctx, thrown: unknown): Response => {
    const error = asSignageError(thrown);
    const answer = problem(error, context.var.origin.requestId);
    const told = { requestId: context.var.origin.requestId, operation: context.var.operation, code: error.code, err: error.cause };
    if (answer.status === 500) log.error(told, error.message);
    else if (answer.status === 503) log.warn(told, error.message);
    return answer;
  };
}

/** Gives each request its id and origin, and its answer the headers that all have; counts and logs it, never with its path. */
function arrival({ newId, clock, trustedProxies, metrics, log }: AppOptions): MiddlewareHandler<App> {
  const addressOf = makeAddressOf(trustedProxies);
  return async (context, next) => {
    const startMs = clock.now();
    const requestId = requestIdOf(context.req.raw.headers, newId);
    context.set('origin', { requestId, address: addressOf(context.env?.incoming) });
    context.set('operation', 'none');
    await next();
    const { headers, status } = context.res;
    headers.set('X-Request-Id', requestId);
    headers.set('X-Content-Type-Options', 'nosniff');
    headers.set('Referrer-Policy', 'no-referrer');
    const { operation } = context.var;
    const ms = clock.now() - startMs;
    metrics.observe(operation, status, ms / secondMs);
    log.debug({ requestId, operation, status, ms, address: context.var.origin.address }, 'request');
  };
}

/** Paths in the order in which they must be tried: what stands literally in one wins over `:id`. */
function literalFirst(paths: Iterable<string>): string[] {
  const rank = (path: string) => path.replaceAll(/:\w+/g, '\uffff');
  return [...new Set(paths)].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function operationRoutes(app: Hono<App>, services: Services, handlers: Handlers): void {
  const entries = Object.entries(operations) as [OperationId, (typeof operations)[OperationId]][];
  for (const path of literalFirst(entries.map(([, { path: operationPath }]) => operationPath))) {
    const here = entries.filter(([, operation]) => operation.path === path);
    for (const [id, { method }] of here) app.on(method, path, makeRoute(services, id, handlers[id] as Handlers[typeof id]));
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
  const fail = makeFail(options.log);
  const count = {
    registered: (repeated: boolean) => metrics.registration(repeated ? 'repeated' : 'bound'),
    events: (received: number) => metrics.eventsReceived(received),
  };
  app.onError((error, context) => fail(context, error));
  app.notFound((context) => fail(context, new SignageError('not_found', 'There is nothing at this path: see /docs for what there is.')));
  app.use('*', arrival(options));
  if (corsOrigins.length > 0) {
    const origin = corsOrigins.includes('*') ? '*' : [...corsOrigins];
    app.use('*', cors({ origin, allowMethods, allowHeaders: allowedHeaders, exposeHeaders: exposedHeaders, maxAge: 600 }));
  }
  if (options.refusals) app.use('*', options.refusals);
  app.use('/devices/register', countRefusals(metrics));
  operationRoutes(app, services, { ...runtimeHandlers(services, count), ...managementHandlers(services, options.stopping) });
  systemRoutes(app, options);
  app.use('/docs/*', metered('docs'));
  app.route('/', docsRoutes() as unknown as Hono<App>);
  otherMethods(app, '/docs', ['GET']);
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
