import type { TLSSocket } from 'node:tls';
import type { AppOptions } from './app-options.ts';
import { makeIsTrusted } from './client-address.ts';
import type { RequestContext } from './request-context.ts';

/** Returns the address at which the client of a request reaches the service, without a slash. */
export type BaseUrlOf = (request: RequestContext) => string;

const host = /^[\w.-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i;

/**
 * Returns a function that determines the address of the service as its client sees it
 * (docs/protocol.md §5.14): `publicUrl`, else the scheme and `Host` of the request. The scheme is
 * `https` with TLS, else what a trusted proxy says in `X-Forwarded-Proto`.
 */
export function makeBaseUrlOf({
  publicUrl,
  trustedProxies,
}: Pick<AppOptions, 'publicUrl' | 'trustedProxies'>): BaseUrlOf {
  if (publicUrl !== undefined) return () => publicUrl;
  const isTrusted = makeIsTrusted(trustedProxies);

  function isEncrypted(request: RequestContext): boolean {
    const { incoming, context } = request;
    if (!incoming) return context?.req.raw.url.startsWith('https:') ?? false;
    if ((incoming.socket as Partial<TLSSocket>).encrypted) return true;
    return isTrusted(incoming) && request.header('x-forwarded-proto')?.trim() === 'https';
  }

  return (request) => {
    const given = request.header('host') ?? request.context?.req.raw.url.split('/')[2] ?? '';
    const shown = host.test(given) ? given.toLowerCase() : 'localhost';
    return `${isEncrypted(request) ? 'https' : 'http'}://${shown}`;
  };
}
