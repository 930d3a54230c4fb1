import type { KnownToken } from './admin-token.ts';
import { pairs } from './print.ts';

/** A text as one word of a shell. */
function shellWord(text: string): string {
  return /^[\w./@%+,:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command that works as it is typed. */
function tryThis(url: string, { token, show, file }: KnownToken): string {
  if (file !== undefined) return `curl -H "Authorization: Bearer $(cat ${shellWord(file)})" ${url}/v1/me`;
  if (show) return `curl -H 'Authorization: Bearer ${token}' ${url}/v1/me`;
  return token === undefined ? `curl ${url}/healthz` : `curl -H "Authorization: Bearer $SIGNAGE_ADMIN_TOKEN" ${url}/v1/me`;
}

/** What a person is told once the service runs: where it is, whose token opens it, what to type next. */
export function welcome(url: string, data: string, known: KnownToken): string {
  const rows: [string, string][] = [
    ['Service', url],
    ['Reference', `${url}/docs`],
    ['Data', data],
  ];
  if (known.show && known.token) rows.push(['Token', `${known.token}  (shown this once: it may do everything)`]);
  if (known.file) rows.push(['Token file', known.file]);
  return `\n${pairs(rows)}\nTry:   ${tryThis(url, known)}\nStop:  Ctrl-C\n\n`;
}
