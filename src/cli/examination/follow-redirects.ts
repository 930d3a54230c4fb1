import { error, type MediaProblem, notLoaded, shownUrl, warning } from './finding.ts';
import type { MediaReply, Send } from './send.ts';

/** Browsers follow 20 redirects (Fetch standard, section 4.4). */
const maxRedirects = 20;
const redirectStatuses = [301, 302, 303, 307, 308];

/** One response in a chain of redirects. */
export interface Hop {
  url: URL;
  /** The value of the request header `Origin`, as a browser would send it. */
  origin: string;
  reply: MediaReply;
}

interface RedirectOptions {
  /** URL of the page that plays the media. */
  player: URL;
  /** Returns the request headers for a value of `Origin`. */
  headersFor(origin: string): Record<string, string>;
  send: Send;
  report(problem: MediaProblem): void;
}

/**
 * Percent-encodes the bytes of a header that are not ASCII, as browsers do. Node has decoded them
 * as Latin-1.
 */
const escapeBytes = (header: string) =>
  header.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);

/** Parses a `Location`. Does not use `URL.canParse`, which rejects some hosts in Node 20. */
function targetOf(location: string | undefined, base: URL): URL | undefined {
  try {
    const target = location === undefined ? undefined : new URL(escapeBytes(location), base);
    // Browsers refuse a redirect with credentials for a request with CORS.
    const isUsable = target && /^https?:$/.test(target.protocol) && !target.username;
    return isUsable ? target : undefined;
  } catch {
    return undefined;
  }
}

const useTarget = 'Publish the address of the file itself.';

/** Checks one step of a redirect. */
function stepProblem(from: URL, to: URL, player: URL): MediaProblem | undefined {
  const where = `The redirect leads from ${shownUrl(from)} to ${shownUrl(to)}`;
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    const isBlocked = player.protocol === 'https:';
    const level = isBlocked ? error : warning;
    return level('redirect', {
      detail: `${where}, which is not encrypted.`,
      effect: isBlocked
        ? 'Browsers block http on a page that was loaded by https.'
        : 'Anyone in the network can replace the item.',
      advice: 'Redirect to https, or publish the https address of the file.',
    });
  }
  if (from.host === to.host) return undefined;
  return warning('redirect', {
    detail: `${where}, on another host.`,
    effect: 'The item does not play if either host fails.',
    advice: useTarget,
  });
}

/**
 * Requests a URL and follows its redirects as a browser does. Returns all responses; the last one
 * is no redirect. Returns `undefined` if there is no final response, after it has reported the
 * reason.
 */
export async function followRedirects(
  start: URL,
  { player, headersFor, send, report }: RedirectOptions,
): Promise<readonly [...Hop[], Hop] | undefined> {
  const hops: Hop[] = [];
  const seen = new Set<string>();
  let url = start;
  let origin = player.origin;
  for (;;) {
    if (seen.has(url.href) || hops.length > maxRedirects) {
      const detail = seen.has(url.href)
        ? `The redirects lead back to ${shownUrl(url)}.`
        : `There are more than ${maxRedirects} redirects.`;
      report(error('redirect', { detail, effect: notLoaded, advice: useTarget }));
      return undefined;
    }
    seen.add(url.href);
    const reply = await send(url, headersFor(origin));
    if (!reply) return undefined;
    const hop = { url, origin, reply };
    if (!redirectStatuses.includes(reply.status)) return [...hops, hop];
    hops.push(hop);
    const next = targetOf(reply.headers.location, url);
    if (!next) {
      const detail = `The target of the redirect (${reply.status}) is not an http or https URL, or has a user name.`;
      report(error('redirect', { detail, effect: notLoaded, advice: useTarget }));
      return undefined;
    }
    const problem = stepProblem(url, next, player);
    if (problem) report(problem);
    // Fetch standard, section 4.4: a redirect between two foreign origins makes the origin opaque.
    if (next.origin !== url.origin && url.origin !== player.origin) origin = 'null';
    url = next;
  }
}
