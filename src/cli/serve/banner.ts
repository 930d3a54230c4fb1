import { shellQuote } from '../records/shell-quote.ts';
import { pairs } from '../terminal/escape.ts';
import type { KnownToken } from './admin-token.ts';

/** Returns a curl command that works as printed. */
function curlCommand(url: string, { token, show, file }: KnownToken): string {
  if (file !== undefined)
    return `curl -H "Authorization: Bearer $(cat ${shellQuote(file)})" ${url}/v1/me`;
  if (show) return `curl -H 'Authorization: Bearer ${token}' ${url}/v1/me`;
  return token === undefined
    ? `curl ${url}/healthz`
    : `curl -H "Authorization: Bearer $SIGNAGE_ADMIN_TOKEN" ${url}/v1/me`;
}

interface Welcome {
  url: string;
  data: string;
  known: KnownToken;
  /**
   * Flags with which commands reach the service, if the context was saved: `''` or `' --context
   * local'`.
   */
  flags: string | undefined;
}

/** Returns the text that `signage serve` prints when the service is ready. */
export function banner({ url, data, known, flags }: Welcome): string {
  const rows: [string, string][] = [
    ['Service', url],
    ['Reference', `${url}/docs`],
    ['Data', data],
  ];
  if (known.show && known.token)
    rows.push(['Token', `${known.token}  (shown only once; it allows everything)`]);
  if (known.file) rows.push(['Token file', known.file]);
  const next = flags === undefined ? curlCommand(url, known) : `signage venue list${flags}`;
  return `\n${pairs(rows)}\nTry:   ${next}\nStop:  Ctrl-C\n\n`;
}
