import { error, type MediaProblem, warning } from './finding.ts';
import type { MediaReply } from './send.ts';

/** The values of `frame-ancestors` of all policies of a response (CSP 3, section 6.4.2). */
function frameAncestors({ headers }: MediaReply): string[] {
  // Node joins repeated headers with commas, which also separate policies.
  const policies = String(headers['content-security-policy'] ?? '').split(',');
  return policies.flatMap((policy) => {
    const directives = policy.split(';').map((directive) => directive.trim());
    const found = directives.find((directive) => /^frame-ancestors(?:\s|$)/i.test(directive));
    return found === undefined ? [] : [found.slice('frame-ancestors'.length).trim()];
  });
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const portOf = ({ port, protocol }: URL) => port || (defaultPorts[protocol] ?? '');

function matchesHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : pattern === host;
}

/** Whether a source of a policy matches a page (CSP 3, section 6.7.2.7). */
function matchesSource(source: string, page: URL, self: URL): boolean {
  const text = source.toLowerCase();
  if (text === '*') return true;
  if (text === "'self'") return page.origin === self.origin;
  if (/^[a-z][a-z\d+.-]*:$/.test(text))
    return text === page.protocol || (text === 'http:' && page.protocol === 'https:');
  const [, scheme, host, port] =
    /^(?:([a-z][a-z\d+.-]*:)\/\/)?((?:\*\.)?[^/:*]+|\*)(?::(\d+|\*))?(?:\/.*)?$/.exec(text) ?? [];
  if (host === undefined) return false;
  const wanted = scheme ?? self.protocol;
  const isScheme = wanted === page.protocol || (wanted === 'http:' && page.protocol === 'https:');
  const wantedPort = port ?? defaultPorts[page.protocol];
  const isPort = wantedPort === '*' || wantedPort === portOf(page);
  return isScheme && isPort && (host === '*' || matchesHost(host, page.hostname));
}

/**
 * Returns the `X-Frame-Options` header if it forbids the frame. Browsers ignore unknown values, and
 * refuse contradictory ones (HTML standard, section 7.7).
 */
function frameOptionsFault(header: string, page: URL, self: URL): string | undefined {
  const values = new Set(header.split(',').map((value) => value.trim().toLowerCase()));
  const known = ['deny', 'sameorigin', 'allowall'].filter((value) => values.has(value));
  const isRefused =
    (values.size > 1 && known.length > 0) ||
    values.has('deny') ||
    (values.has('sameorigin') && page.origin !== self.origin);
  return isRefused ? `X-Frame-Options: ${header}` : undefined;
}

/** Returns the header that forbids `player` to show the page in a frame. */
function refusal(reply: MediaReply, self: URL, player: URL): string | undefined {
  const ancestors = frameAncestors(reply);
  const refusing = ancestors.find(
    (sources) => !sources.split(/\s+/).some((source) => matchesSource(source, player, self)),
  );
  if (refusing !== undefined) return `Content-Security-Policy: frame-ancestors ${refusing}`;
  // `frame-ancestors` replaces X-Frame-Options.
  const options = String(reply.headers['x-frame-options'] ?? '');
  return ancestors.length === 0 ? frameOptionsFault(options, player, self) : undefined;
}

/** Checks whether a player in a browser may show a page in a frame. */
export function framingProblem(
  { url, reply }: { url: URL; reply: MediaReply },
  player: URL,
): MediaProblem | undefined {
  const header = refusal(reply, url, player);
  if (header === undefined) return undefined;
  return error('framing', {
    detail: `The page forbids frames of ${player.origin}: "${header}".`,
    effect: 'A player in a browser shows an empty frame, and cannot detect it.',
    advice: `Let the page allow ${player.origin} in frame-ancestors, or use another page.`,
  });
}

/** Scripts and elements that fail in a page with an opaque origin, and their names. */
const needs: readonly (readonly [RegExp, string])[] = [
  [/\bdocument\.cookie\b/, 'cookies'],
  [/\b(?:localStorage|sessionStorage|indexedDB)\b/, 'storage'],
  [/\bserviceWorker\b/, 'a Service Worker'],
  [/<script[^<>]+type=["']?module\b/i, 'JavaScript modules'],
];

/** Returns what a page uses and a player in a browser denies without `storage`. */
function neededBy({ headers, body }: MediaReply): string[] {
  const text = body.toString('latin1');
  const found = needs.filter(([pattern]) => pattern.test(text)).map(([, name]) => name);
  return [...new Set([...(headers['set-cookie'] ? ['cookies'] : []), ...found])];
}

/** Checks whether a page will miss its origin, or puts the player at risk by keeping it. */
export function storageProblem(
  { url, reply, storage }: { url: URL; reply: MediaReply; storage: boolean },
  player: URL,
): MediaProblem | undefined {
  const needed = neededBy(reply);
  if (!storage && needed.length > 0)
    return warning('storage', {
      detail: `The page uses ${needed.join(', ')}.`,
      effect: 'A player in a browser denies them to pages without "storage": true.',
      advice: 'If you trust the page, set "storage": true in the item. See docs/web-player.md.',
    });
  if (!storage) return undefined;
  if (url.origin === player.origin)
    return warning('storage', {
      detail: 'The item has "storage": true, and its page is at the address of the service.',
      effect: 'Such a page never gets its cookies and storage.',
      advice: 'Serve the page from another host.',
    });
  if (player.protocol !== 'http:') return undefined;
  return warning('isolation', {
    detail: `The item has "storage": true, and the player is at ${player.origin}, without HTTPS.`,
    effect: 'A browser may run the page in the process of the player: a loop then freezes the TV.',
    advice: 'Use HTTPS for the service, or leave "storage" out.',
  });
}
