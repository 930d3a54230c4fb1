import { secondMs } from '../domain/clock.ts';
import { invalidOption } from '../domain/error.ts';
import { proxySubject } from '../http/request/client-address.ts';
import { parseRange } from '../network/address-range.ts';
import { webhookRangeSubject } from '../network/callable-address.ts';
import { checkOptions } from '../options/check-options.ts';
import { serveRules } from './option-rules.ts';
import type { ServeOptions } from './serve-options.ts';

const mebibyte = 1024 * 1024;

/** First segments of the paths of the service. A mount path that begins with one is ambiguous. */
const ownSegments = [
  'v1',
  'devices',
  'docs',
  'media',
  'player',
  'healthz',
  'readyz',
  'metrics',
  'openapi.json',
];

/** The largest object that S3 takes in one request, in MiB. */
const maxObjectMiB = 5120;

/** Returns the public URL without a trailing slash. Throws `invalid_option`. */
function checkPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const credentials = url && url.username + url.password;
  if (!url || !/^https?:$/.test(url.protocol) || credentials || url.search || url.hash)
    throw invalidOption(
      'publicUrl must be an http or https URL without user name, query and fragment, such as https://example.com/signage.',
    );
  const [, first = ''] = url.pathname.split('/');
  if (ownSegments.includes(first))
    throw invalidOption(
      `The path of publicUrl must not begin with /${first}: the service has such paths itself.`,
    );
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Throws `invalid_option` for options that do not work with `listen: false`. */
function checkListening(options: ServeOptions): void {
  if (options.listen !== false) return;
  const unused = (['host', 'port', 'tls'] as const).find((name) => options[name] !== undefined);
  if (unused) throw invalidOption(`With listen: false, the option ${unused} has no effect.`);
}

/**
 * Returns whether a text is `*`, or an origin as browsers send it: `https://tv.example.com`.
 * Packaged apps send `null`, or an origin with a scheme of their own.
 */
function isOrigin(text: string): boolean {
  if (text === '*' || text === 'null') return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s*]*$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Throws `invalid_option` for entries of lists that would never match. */
function checkLists({ trustProxy = [], webhookAllow = [], corsOrigins = [] }: ServeOptions): void {
  for (const text of trustProxy) parseRange(text, proxySubject);
  for (const text of webhookAllow) parseRange(text, webhookRangeSubject);
  const origin = corsOrigins.find((text) => !isOrigin(text));
  if (origin !== undefined) {
    throw invalidOption(
      `${JSON.stringify(origin)} is not an origin. Write scheme, host and port as browsers do, without wildcards, such as https://tv.example.com.`,
    );
  }
}

/**
 * Validates the options. Returns the numbers with their defaults, and the public URL. Throws
 * `invalid_option`.
 */
export function checkServeOptions(options: ServeOptions) {
  checkOptions(serveRules, options);
  checkLists(options);
  const publicUrl = options.publicUrl === undefined ? undefined : checkPublicUrl(options.publicUrl);
  checkListening(options);
  const {
    port = 4100,
    codeTtlMinutes = 15,
    retentionDays = 90,
    maxConnections = 20_000,
    keepAliveSeconds = 75,
    authGraceSeconds = 0,
    mediaLimitMiB = 512,
    mediaQuotaMiB = 10_240,
    playlistQuotaMiB = 256,
  } = options;
  if (String(options.media).startsWith('s3:') && mediaLimitMiB > maxObjectMiB)
    throw invalidOption(
      `mediaLimitMiB must be at most ${maxObjectMiB} with media in a bucket: S3 takes no larger object in one request.`,
    );
  return {
    publicUrl,
    port,
    codeTtlMinutes,
    retentionDays,
    maxConnections,
    keepAliveTimeoutMs: keepAliveSeconds * secondMs,
    authGraceMs: authGraceSeconds * secondMs,
    mediaLimitBytes: mediaLimitMiB * mebibyte,
    mediaQuotaBytes: mediaQuotaMiB * mebibyte,
    playlistQuotaBytes: playlistQuotaMiB * mebibyte,
  };
}
