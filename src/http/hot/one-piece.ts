import type { ServerResponse } from 'node:http';

/**
 * Ends an answer, of which the head is written, with a body of pure ASCII: both go to the socket as one text. Left to itself Node hands over two, the second
 * of them empty, and the way for several (`writev`) costs an eighth of all that there is to a request for a playlist.
 *
 * Node keeps the head in `_header` until the first bytes go out, which it has done since its first versions, but promises nobody: where it does not, the body
 * goes the usual way.
 */
export function endInOnePiece(outgoing: ServerResponse, body: string): void {
  const waiting = outgoing as { _header?: unknown; _headerSent?: unknown };
  if (typeof waiting._header === 'string' && waiting._headerSent === false) {
    waiting._header += body;
    outgoing.end();
  } else outgoing.end(body, 'latin1');
}
