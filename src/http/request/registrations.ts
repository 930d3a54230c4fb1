import type { MiddlewareHandler } from 'hono';
import { secondMs } from '../../domain/clock.ts';
import type { GuessQuota } from '../../service/guesses/guess-quota.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { App } from './request-context.ts';

const wholeSeconds = (ms: number) => Math.ceil(ms / secondMs);

/** Returns the headers of a quota (draft-ietf-httpapi-ratelimit-headers-10). */
function rateLimitHeaders({ limit, windowMs, remaining, resetMs }: GuessQuota): [string, string][] {
  const reset = resetMs === undefined ? '' : `;t=${wholeSeconds(resetMs)}`;
  return [
    ['RateLimit-Policy', `"unknown-codes";q=${limit};w=${wholeSeconds(windowMs)}`],
    ['RateLimit', `"unknown-codes";r=${remaining}${reset}`],
  ];
}

/**
 * Counts failed registrations by reason. Adds headers with the quota of the source to a response if
 * the code was looked up.
 */
export function registrationMiddleware(
  metrics: Pick<Metrics, 'registration'>,
): MiddlewareHandler<App> {
  return async (context, next) => {
    await next();
    const { operation, guessQuota } = context.var;
    const { status, headers } = context.res;
    if (guessQuota)
      for (const [name, value] of rateLimitHeaders(guessQuota)) headers.set(name, value);
    if (operation === 'registerDevice' && status >= 400)
      metrics.registration(status === 429 ? 'locked_out' : 'refused');
  };
}
