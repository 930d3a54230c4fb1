import { type MediaProblem, warning } from './finding.ts';
import type { MediaReply } from './send.ts';

/** Scripts and elements that fail in a page with an opaque origin, and their names. */
const needs: readonly (readonly [RegExp, string])[] = [
  [/\bdocument\.cookie\b/, 'cookies'],
  [/\b(?:localStorage|sessionStorage|indexedDB)\b/, 'storage'],
  [/\bserviceWorker\b/, 'a Service Worker'],
  [/<script[^>]+type=["']?module\b/i, 'JavaScript modules'],
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
