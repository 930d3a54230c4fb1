import { secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { parseProxy } from '../http/request/client-address.ts';
import type { ServeOptions } from './serve-options.ts';

const invalidOption = (message: string) => new SignageError('invalid_option', message);

/** Throws `invalid_option` for all but a whole number within these bounds. */
export function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidOption(`${name} must be a whole number from ${min} to ${max}.`);
}

/** An origin as browsers send it: `https://tv.example.com`; packaged apps send `null` or one of a scheme of their own. */
function isOrigin(text: string): boolean {
  if (text === '*' || text === 'null') return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Refuses what would silently never match. */
function checkLists({ trustProxy = [], corsOrigins = [] }: ServeOptions): void {
  for (const proxy of trustProxy) parseProxy(proxy);
  const origin = corsOrigins.find((text) => !isOrigin(text));
  if (origin !== undefined) {
    throw invalidOption(
      `${JSON.stringify(origin)} is no origin: write scheme, host and port as browsers do, such as https://tv.example.com.`,
    );
  }
}

/** Reads the numbers among the options, and refuses what cannot be meant: throws `invalid_option`. */
export function checkOptions(options: ServeOptions) {
  checkLists(options);
  return {
    port: whole('The port', options.port ?? 4100, 0, 65_535),
    codeTtlMinutes: whole('The lifetime of codes in minutes', options.codeTtlMinutes ?? 15, 1, 60),
    retentionDays: whole('The retention in days', options.retentionDays ?? 90, 1, 36_500),
    authGraceMs:
      whole('The grace of device keys in seconds', options.authGraceSeconds ?? 0, 0, 86_400) *
      secondMs,
  };
}
