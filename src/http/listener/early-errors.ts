import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SignageError } from '../../domain/error.ts';
import type { IdSource } from '../../domain/id.ts';
import { problemParts } from '../problem.ts';
import { requestIdOf } from '../request/request-context.ts';
import { commonHeaders } from '../request/request-log.ts';

/** What is refused before the app sees it gets the same problem document, and the headers that all answers have. */
export interface Refuse {
  request(incoming: IncomingMessage, outgoing: ServerResponse, error: SignageError): void;
  /** The same as an answer of the app, for a request of which there is not even a URL. */
  response(error: SignageError): Response;
  /** Answers on the bare connection, when no request could be made of what came on it, and hangs up. */
  connection(socket: Socket, error: SignageError): void;
}

export interface RefuseOptions {
  newId: IdSource;
  /** Web TV apps from these may read why, and when to come again. */
  corsOrigins?: readonly string[];
}

export function makeRefuse({ newId, corsOrigins = [] }: RefuseOptions): Refuse {
  function forOrigin(origin: string | undefined): Record<string, string> {
    const allowed = corsOrigins.includes('*') ? '*' : origin;
    if (allowed === undefined || !corsOrigins.includes(allowed)) return {};
    return {
      'Access-Control-Allow-Origin': allowed,
      'Access-Control-Expose-Headers': 'Retry-After,X-Request-Id',
      Vary: 'Origin',
    };
  }

  function parts(error: SignageError, given?: string | string[]) {
    const requestId = requestIdOf(given?.toString(), newId);
    const { status, headers, text } = problemParts(error, requestId);
    return { status, headers: { ...headers, 'X-Request-Id': requestId, ...commonHeaders }, text };
  }

  return {
    request(incoming, outgoing, error) {
      const { status, headers, text } = parts(error, incoming.headers['x-request-id']);
      outgoing.writeHead(status, {
        ...headers,
        ...forOrigin(incoming.headers.origin),
        'Content-Length': Buffer.byteLength(text),
      });
      outgoing.end(text);
    },
    response(error) {
      const { status, headers, text } = parts(error);
      return new Response(text, { status, headers });
    },
    connection(socket, error) {
      const { status, headers, text } = parts(error);
      const all = {
        ...headers,
        'Content-Length': String(Buffer.byteLength(text)),
        Connection: 'close',
      };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      // Not left half open: whoever sent this may never close.
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`, () =>
        socket.destroy(),
      );
    },
  };
}

const tooMuchHead =
  'The request line and headers take more than 8 KiB: send fewer or shorter ones.';
/** One for all: to note where each was made is a quarter of what it takes to cut off a slow client, and they come by the thousand. */
const tooSlow = new SignageError(
  'request_timeout',
  'The request did not arrive in time: 10 seconds for its headers, 15 for all of it.',
);

/** What Node says of a connection, as an error of ours. */
export function connectionError(error: NodeJS.ErrnoException): SignageError {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new SignageError('headers_too_large', tooMuchHead);
  if (error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new SignageError(
      'body_too_large',
      'The chunk extensions take too much room: leave them out.',
    );
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow;
  return malformed('What came is no HTTP request, or one that can be read in two ways.');
}

export function malformed(message: string): SignageError {
  return new SignageError('malformed_request', message);
}

export function unsupportedTransferCoding(): SignageError {
  return new SignageError(
    'transfer_encoding_unsupported',
    'The only transfer coding that is taken is chunked: send the body as it is, with Transfer-Encoding: chunked or a Content-Length.',
  );
}
