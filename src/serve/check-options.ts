import { secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { parseProxy } from '../http/request/client-address.ts';
import { wholeNumber } from '../store/open.ts';
import type { ServeOptions } from './serve-options.ts';

const invalidOption = (message: string) => new SignageError('invalid_option', message);

/**
 * Returns whether a text is an origin as browsers send it: `https://tv.example.com`. Packaged apps
 * send `null`, or an origin with a scheme of their own.
 */
function isOrigin(text: string): boolean {
  if (text === '*' || text === 'null') return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Throws `invalid_option` for entries of `trustProxy` and `corsOrigins` that would never match. */
function checkLists({ trustProxy = [], corsOrigins = [] }: ServeOptions): void {
  for (const proxy of trustProxy) parseProxy(proxy);
  const origin = corsOrigins.find((text) => !isOrigin(text));
  if (origin !== undefined) {
    throw invalidOption(
      `${JSON.stringify(origin)} is not an origin. Write scheme, host and port as browsers do, such as https://tv.example.com.`,
    );
  }
}

/** Validates the options and returns the numbers with their defaults. Throws `invalid_option`. */
export function checkOptions(options: ServeOptions) {
  checkLists(options);
  return {
    port: wholeNumber('The port', options.port ?? 4100, 0, 65_535),
    codeTtlMinutes: wholeNumber(
      'The lifetime of codes in minutes',
      options.codeTtlMinutes ?? 15,
      1,
      60,
    ),
    retentionDays: wholeNumber('The retention in days', options.retentionDays ?? 90, 1, 36_500),
    maxConnections: wholeNumber(
      'The number of connections',
      options.maxConnections ?? 20_000,
      1,
      200_000,
    ),
    authGraceMs:
      wholeNumber('The grace of device keys in seconds', options.authGraceSeconds ?? 0, 0, 86_400) *
      secondMs,
  };
}
