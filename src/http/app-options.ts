import type { Hono, MiddlewareHandler } from 'hono';
import type { Clock } from '../domain/clock.ts';
import type { IdSource } from '../domain/id.ts';
import type { LogSink } from '../domain/log.ts';
import type { Services } from '../service/services.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { App } from './request/request-context.ts';

/** What the app is made of. */
export interface AppOptions {
  services: Services;
  clock: Clock;
  newId: IdSource;
  log: LogSink;
  metrics: Metrics;
  version: string;
  metricsToken?: string | undefined;
  corsOrigins: readonly string[];
  trustedProxies: readonly string[];
  /** Ends long polls when the service stops. */
  stopping: AbortSignal;
  /** More to serve, such as the demo's media. */
  extra?: Hono | undefined;
  /** Answers in place of the operations what fault rules say. */
  refusals?: MiddlewareHandler<App> | undefined;
}
