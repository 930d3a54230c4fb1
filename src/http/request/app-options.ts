import type { MiddlewareHandler } from 'hono';
import type { Clock } from '../../domain/clock.ts';
import type { IdSource } from '../../domain/id.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Services } from '../../service/assembly/services.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { App } from './request-context.ts';

/** Dependencies and settings of the app. */
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
  /** Whether lists, the OpenAPI document and static files are compressed. */
  compression: boolean;
  /** Whether the web player is served under `/player`. */
  player: boolean;
  /**
   * Base URL under which clients reach the service, without a trailing slash. Its path is part of
   * each `Location`. Default: the OpenAPI document names `/`, and a `Location` gets no prefix.
   */
  publicUrl?: string | undefined;
  /** Aborted when the service stops. The signal ends long polls. */
  stopping: AbortSignal;
  /** Answers requests for which a fault rule sets a status. `undefined` without fault rules. */
  faultResponses?: MiddlewareHandler<App> | undefined;
}
