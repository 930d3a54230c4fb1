import { shellQuote } from '../records/shell-quote.ts';
import { pairs } from '../terminal/escape.ts';
import type { KnownToken } from './admin-token.ts';

/** A command that works as it is typed. */
function tryThis(url: string, { token, show, file }: KnownToken): string {
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
  /** What commands need to reach it, when the context was saved: `''`, or `' --context local'`. */
  reach: string | undefined;
}

/** What a person is told once the service runs: where it is, whose token opens it, what to type next. */
export function banner({ url, data, known, reach }: Welcome): string {
  const rows: [string, string][] = [
    ['Service', url],
    ['Reference', `${url}/docs`],
    ['Data', data],
  ];
  if (known.show && known.token)
    rows.push(['Token', `${known.token}  (shown this once: it may do everything)`]);
  if (known.file) rows.push(['Token file', known.file]);
  const next = reach === undefined ? tryThis(url, known) : `signage venue list${reach}`;
  return `\n${pairs(rows)}\nTry:   ${next}\nStop:  Ctrl-C\n\n`;
}
