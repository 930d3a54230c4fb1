import type { HttpProxy } from '../../client/proxy-tunnel.ts';
import { usage } from '../input/settings.ts';
import type { Io } from '../terminal/io.ts';
import { isLoopback } from './loopback.ts';
import { withScheme } from './service-url.ts';

/** Variables by the protocol of a URL, in order of precedence, as in undici and curl. */
const variables: Readonly<Record<string, readonly string[]>> = {
  'https:': ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'],
  'http:': ['http_proxy', 'HTTP_PROXY'],
};
const defaultPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** Decodes a user name or a password of a URL. A `%` without two digits stays. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parses the URL of a proxy. Throws `usage`, without the text, which may contain a password. */
function parseProxy(text: string, variable: string): HttpProxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    const bare = text.replace(/^.*@/s, '');
    const host = withScheme(bare) === bare ? 'proxy.example.com:3128' : bare;
    throw usage(
      `${variable} is not the URL of a proxy such as http://proxy.example.com:3128.`,
      `Set it to http://${host}, or unset it to connect directly.`,
    );
  }
  const { username, password } = url;
  const credentials = `${decoded(username)}:${decoded(password)}`;
  url.username = '';
  url.password = '';
  return {
    variable,
    url,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/** Whether `NO_PROXY` names the host: itself, a parent domain, each with or without a port. */
function isExcepted({ hostname, port, protocol }: URL, env: Io['env']): boolean {
  const entries = (env.no_proxy ?? env.NO_PROXY ?? '').toLowerCase().split(/[,\s]+/);
  return entries.some((entry) => {
    if (entry === '*') return true;
    const [, name = entry, entryPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
    if (entryPort !== undefined && entryPort !== (port || defaultPorts[protocol])) return false;
    const host = name.replace(/^\*?\./, '');
    return host !== '' && (hostname === host || hostname.endsWith(`.${host}`));
  });
}

/**
 * Returns the proxy that the environment names for a URL. Loopback addresses are always direct.
 * Throws `usage` if the variable is not the URL of a proxy.
 */
export function proxyFor(url: URL, env: Io['env']): HttpProxy | undefined {
  const variable = variables[url.protocol]?.find((name) => env[name]);
  if (variable === undefined || isLoopback(url.hostname) || isExcepted(url, env)) return undefined;
  return parseProxy((env[variable] ?? '').trim(), variable);
}

/** Warns if a token crosses a proxy in clear text. */
export function warnOfReadableToken(
  address: string,
  env: Io['env'],
  warn: (message: string) => void,
): void {
  const url = new URL(address);
  const proxy = url.protocol === 'http:' ? proxyFor(url, env) : undefined;
  if (proxy)
    warn(
      `The proxy ${proxy.url.origin} (${proxy.variable}) can read the token, because ${url.origin} is not encrypted. Use https, or list ${url.hostname} in NO_PROXY.`,
    );
}
