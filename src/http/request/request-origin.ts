import { SignageError } from '../../domain/error.ts';
import type { Operation } from '../../wire/operations/operations.ts';
import type { AppOptions } from './app-options.ts';
import { makeBaseUrlOf } from './base-url.ts';
import type { RequestContext } from './request-context.ts';

/** Whether anybody may call a changing operation, so that a web page could in somebody's name. */
export const needsNoCredential = ({ access, method }: Operation): boolean =>
  access === 'public' && method !== 'GET';

/** Proxies and browsers differ in whether they name the default port. */
const withoutDefaultPort = (host: string) =>
  host
    .trim()
    .toLowerCase()
    .replace(/:(?:80|443)$/, '');

const refused = () =>
  new SignageError(
    'origin_refused',
    'A web page of another origin sent this. If it is your own, allow its origin with --cors-origin. If it is the web player behind a proxy, pass the Host header on, or set --public-url.',
  );

/**
 * Returns a check of requests without a credential (docs/protocol.md §3.1). A web page of another
 * origin must not use up the limits of its visitor's address. It throws `origin_refused`, and
 * `unsupported_media_type` for a page of the service that sends no `Content-Type`.
 *
 * Packaged TV apps have an origin such as `null` or `file://`. They pass with the content type of
 * JSON, which browsers send to another origin only after a preflight.
 */
export function makeOriginCheck(
  options: Pick<AppOptions, 'corsOrigins' | 'publicUrl' | 'trustedProxies'>,
): (request: RequestContext) => void {
  const allowed = new Set(options.corsOrigins);
  const baseUrlOf = makeBaseUrlOf(options);
  const fromRequest = makeBaseUrlOf({ ...options, publicUrl: undefined });

  /**
   * Returns whether an origin has the host of the service. The scheme is not compared, because a
   * proxy may end TLS. A web page of another origin cannot set `X-Forwarded-Host` without a
   * preflight.
   */
  function isOwn(request: RequestContext, origin: string): boolean {
    const hosts = [
      new URL(baseUrlOf(request)).host,
      new URL(fromRequest(request)).host,
      ...(request.header('x-forwarded-host') ?? '').split(','),
    ];
    return hosts.map(withoutDefaultPort).includes(withoutDefaultPort(new URL(origin).host));
  }

  function isForeign(request: RequestContext, origin: string | undefined): boolean {
    const site = request.header('sec-fetch-site');
    if (site === 'same-origin') return false;
    if (origin === undefined) return site === 'cross-site';
    if (/^https?:/i.test(origin)) return !URL.canParse(origin) || !isOwn(request, origin);
    return request.header('content-type') === undefined;
  }

  return (request) => {
    const origin = request.header('origin');
    if (allowed.has('*') || (origin !== undefined && allowed.has(origin))) return;
    if (isForeign(request, origin)) throw refused();
    if (origin !== undefined && request.header('content-type') === undefined)
      throw new SignageError(
        'unsupported_media_type',
        'Send the body with Content-Type: application/json.',
      );
  };
}
