import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

/** Response headers that web TV apps of other origins may read. */
const exposedHeaders = [
  'X-Playlist-Version',
  'X-Source',
  'X-Config-Source',
  'ETag',
  'Retry-After',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
  'Location',
  // Web TVs without a battery-backed clock compare `validUntil` with this header.
  'Date',
  // Names the fault rule, so that tests of web TV apps can tell injected faults from real faults.
  'X-Signage-Fault',
];
const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const allowHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'X-Device-Time',
  'X-Request-Id',
  'X-Tenant-Id',
];

export function makeCorsHeaders(
  origins: readonly string[],
): (origin: string | undefined) => Readonly<Record<string, string>> {
  const exposed = { 'Access-Control-Expose-Headers': exposedHeaders.join(',') };
  const anyOrigin = { 'Access-Control-Allow-Origin': '*', ...exposed };
  if (origins.includes('*')) return () => anyOrigin;
  const others = { ...exposed, Vary: 'Origin' };
  const allowed = new Map(
    origins.map((origin) => [origin, { 'Access-Control-Allow-Origin': origin, ...others }]),
  );
  return (origin = '') => allowed.get(origin) ?? others;
}

/** Answers preflights, and adds the CORS headers to all other responses of the app. */
export function corsMiddleware(origins: readonly string[]): MiddlewareHandler {
  const origin = origins.includes('*') ? '*' : [...origins];
  const exposeHeaders = exposedHeaders;
  const preflight = cors({ origin, allowMethods, allowHeaders, exposeHeaders, maxAge: 600 });
  const headersFor = makeCorsHeaders(origins);
  return async (context, next) => {
    if (context.req.method === 'OPTIONS') return preflight(context, next);
    await next();
    const headers = headersFor(context.req.header('origin'));
    for (const [name, value] of Object.entries(headers))
      context.header(name, value, { append: name === 'Vary' });
    return undefined;
  };
}
