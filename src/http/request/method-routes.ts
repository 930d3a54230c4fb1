import type { Hono, MiddlewareHandler } from 'hono';
import { SignageError } from '../../domain/error.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import type { App } from './request-context.ts';

/** Answers 405 with the allowed methods of a path. */
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
