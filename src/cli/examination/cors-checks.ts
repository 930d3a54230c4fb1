import { error, type MediaProblem, shownUrl, warning } from './finding.ts';
import type { Hop } from './follow-redirects.ts';
import type { MediaReply, Send } from './send.ts';

const requestHeaders = ['if-range', 'range'];
/** Response headers that a player needs to continue a download. */
const responseHeaders = ['content-range', 'etag'];

const wordsOf = (header: string | undefined) =>
  (header ?? '').split(',').map((word) => word.trim().toLowerCase());

const allows = ({ headers }: MediaReply, origin: string) =>
  ['*', origin].includes(headers['access-control-allow-origin'] ?? '');

/** Whether a browser applies CORS to a response. */
const isForeign = ({ url, origin }: Hop, player: URL) =>
  url.origin !== player.origin || origin !== player.origin;

function notAllowed({ url, origin, reply }: Hop): MediaProblem {
  const allowed = reply.headers['access-control-allow-origin'];
  const what =
    allowed === undefined
      ? 'has no Access-Control-Allow-Origin'
      : `has the Access-Control-Allow-Origin "${allowed}"`;
  // Without CORS, Cross-Origin-Resource-Policy decides whether a page may show the file.
  const isForbidden = reply.headers['cross-origin-resource-policy'] === 'same-origin';
  const level = isForbidden ? error : warning;
  return level('cors', {
    detail: `The response of ${shownUrl(url)} ${what}, and the origin of the request is ${origin}.`,
    effect: isForbidden
      ? 'Its Cross-Origin-Resource-Policy also forbids a player in a browser to show it.'
      : 'A player in a browser cannot keep a copy, so the item needs the network each time.',
    advice: 'Make the media server send "Access-Control-Allow-Origin: *".',
  });
}

/** Checks whether a player in a browser may read the file. Each redirect must allow it, too. */
export function corsProblem(hops: readonly Hop[], player: URL): MediaProblem | undefined {
  const refused = hops.find((hop) => isForeign(hop, player) && !allows(hop.reply, hop.origin));
  return refused && notAllowed(refused);
}

function exposeProblem({ reply }: Hop): MediaProblem | undefined {
  const exposed = wordsOf(reply.headers['access-control-expose-headers']);
  const hidden = responseHeaders.filter(
    (name) => reply.headers[name] !== undefined && !exposed.includes(name),
  );
  if (hidden.length === 0 || exposed.includes('*')) return undefined;
  return warning('expose', {
    detail: `Access-Control-Expose-Headers does not name ${hidden.join(' and ')}.`,
    effect: 'A player in a browser cannot continue an interrupted download.',
    advice: `Make the server send "Access-Control-Expose-Headers: ${responseHeaders.join(', ')}".`,
  });
}

/**
 * Sends the preflight request of a browser (Fetch standard, section 4.8). Returns a warning if the
 * status is not 2xx, or if the response does not allow the origin or the headers.
 */
async function preflightProblem(
  { url, origin }: Hop,
  send: Send,
): Promise<MediaProblem | undefined> {
  const asked = {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': requestHeaders.join(','),
  };
  const reply = await send(url, asked, 'OPTIONS');
  if (!reply) return undefined;
  const allowed = wordsOf(reply.headers['access-control-allow-headers']);
  const refused = requestHeaders.filter((name) => !allowed.includes(name));
  const isSuccess = reply.status >= 200 && reply.status < 300;
  if (isSuccess && allows(reply, origin) && (allowed.includes('*') || refused.length === 0))
    return undefined;
  const reason = isSuccess
    ? allows(reply, origin)
      ? `does not allow the header ${refused.join(' and ')}`
      : `does not allow the origin ${origin}`
    : `has status ${reply.status}`;
  return warning('preflight', {
    detail: `The response of ${shownUrl(url)} to OPTIONS ${reason}.`,
    effect: 'A player in a browser cannot continue an interrupted download.',
    advice: `Answer OPTIONS with 204 and "Access-Control-Allow-Headers: ${requestHeaders.join(', ')}".`,
  });
}

/** Checks whether a player in a browser may load a large file in parts. */
export async function corsRangeProblems(
  hops: readonly [...Hop[], Hop],
  player: URL,
  send: Send,
): Promise<MediaProblem[]> {
  const foreign = hops.filter((hop) => isForeign(hop, player));
  const file = foreign.at(-1);
  if (!file) return [];
  for (const hop of foreign) {
    const problem = await preflightProblem(hop, send);
    if (problem) return [problem];
  }
  const hidden = file.reply.status === 206 ? exposeProblem(file) : undefined;
  return hidden ? [hidden] : [];
}
