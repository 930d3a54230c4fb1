import { timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import ipaddr from 'ipaddr.js';
import { bearerToken } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import type { Readiness } from '../../service/assembly/health.ts';
import type { AppOptions } from '../request/app-options.ts';
import { methodNotAllowed, setOperation } from '../request/fetch-adapter.ts';
import type { App, Ctx } from '../request/request-context.ts';
import { answerStaticFile, StaticFile } from './static-file.ts';

function isLoopback(address: string | null): boolean {
  return (
    address !== null && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
  );
}

function equalsConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Allows metrics for loopback addresses, and for the metrics token. A request with a header of a
 * proxy does not count as loopback, whatever address the header names.
 */
function checkMetricsAccess(context: Ctx, { metricsToken }: AppOptions): void {
  const proxied = ['x-forwarded-for', 'forwarded', 'via'].some(
    (name) => context.req.header(name) !== undefined,
  );
  if (isLoopback(context.var.client.address) && !proxied) return;
  const authorization = context.req.header('authorization');
  if (authorization === undefined)
    throw new SignageError(
      'credential_missing',
      'From another machine, metrics need the metrics token as a bearer token.',
    );
  const token = bearerToken(authorization);
  if (
    metricsToken === undefined ||
    token === undefined ||
    !equalsConstantTime(token, metricsToken)
  ) {
    throw new SignageError('credential_invalid', 'This is not the metrics token of the service.');
  }
}

/** Returns one line of JSON per component. The status is the same as without `verbose`. */
function verboseReadiness({ isReady, components }: Readiness): Response {
  const lines = components.map((component) => `${JSON.stringify(component)}\n`).join('');
  return new Response(lines, {
    status: isReady ? 200 : 503,
    headers: { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' },
  });
}

/**
 * Routes for operators: health, readiness, metrics and the OpenAPI document (docs/protocol.md §7).
 */
export function systemRoutes(app: Hono<App>, options: AppOptions): void {
  const { services, metrics, version, compression } = options;
  let openApi: StaticFile | undefined;
  const route = (path: string, answer: (context: Ctx) => Promise<Response>) => {
    app.get(path, setOperation('system'), answer);
    methodNotAllowed(app, path, ['GET']);
  };
  const json = (body: object) => new Response(JSON.stringify(body), { headers: jsonType });

  route('/healthz', async () => json({ status: 'ok', version }));
  route('/readyz', async (context) => {
    if (context.req.query('verbose') !== undefined)
      return verboseReadiness(await services.health());
    await services.ready();
    return json({ status: 'ready' });
  });
  route('/metrics', async (context) => {
    checkMetricsAccess(context, options);
    return new Response(await metrics.render(), {
      headers: { 'Content-Type': metrics.contentType },
    });
  });
  route('/openapi.json', async (context) => {
    // Imported on demand, because few clients ask for it.
    const { openApiDocument } = await import('../openapi/document.ts');
    openApi ??= new StaticFile(
      new TextEncoder().encode(JSON.stringify(openApiDocument(version, options.publicUrl))),
      'application/json',
      { headers: { 'Cache-Control': 'no-cache' }, compression },
    );
    return answerStaticFile(context, openApi);
  });
}

const jsonType = { 'Content-Type': 'application/json' };
