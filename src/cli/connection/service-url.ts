import { usage } from '../input/settings.ts';
import { isLoopback } from './loopback.ts';

/** A host without a scheme: a name with a dot or a port, `localhost`, or an IPv6 address. */
const bareHost = /^(?:localhost|[\w-]+(?=:\d)|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\])(?::\d+)?(?:\/|$)/i;

/**
 * Adds the scheme that a host lacks: http for this machine, https for others. Returns other text
 * unchanged.
 */
export function withScheme(text: string): string {
  const url = `https://${text}`;
  if (!bareHost.test(text) || !URL.canParse(url)) return text;
  return isLoopback(new URL(url).hostname) ? `http://${text}` : url;
}

/**
 * Returns the base URL of a service. Removes the paths of the API, the web player and the
 * reference, which people copy from a browser.
 */
export const baseUrl = (url: string): string =>
  url.replace(/\/(?:v1|player|docs)\/*(?:[?#].*)?$/, '');

/**
 * Throws `usage` for an invalid URL. Without `insecureHttp`, also throws for a URL that would send
 * a token unencrypted across a network.
 */
export function requireSafeAddress(url: string, insecureHttp: boolean): void {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    const complete = withScheme(url);
    throw usage(
      `"${url}" is not a URL such as https://signage.example.com.`,
      complete === url ? undefined : `Did you mean ${complete}?`,
    );
  }
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || isLoopback(hostname) || insecureHttp) return;
  throw usage(
    `${url} is not encrypted: the token would cross the network in clear text.`,
    'Use https, or allow it with --insecure-http.',
  );
}
