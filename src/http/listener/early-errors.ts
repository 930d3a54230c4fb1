import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { IdSource } from '../../domain/id.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { makeCorsHeaders } from '../request/cors.ts';
import { problemParts } from '../request/problem.ts';
import { commonHeaders, makeDateHeader, requestIdOf } from '../request/request-log.ts';

/**
 * Answers requests that do not reach the app. Most answers are errors. Uses the same problem
 * documents and common headers as the app.
 */
export interface EarlyErrors {
  request(incoming: IncomingMessage, outgoing: ServerResponse, error: SignageError): void;
  /** Answers `OPTIONS *`, which is about the whole server (RFC 9110 §9.3.7), with 204. */
  serverOptions(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Returns an error as a `Response`, such as for a request without a valid URL. */
  response(error: SignageError): Response;
  /** Writes a response to a connection whose input is not a valid request, and closes it. */
  connection(socket: Socket, error: SignageError): void;
}

export interface EarlyErrorsOptions {
  newId: IdSource;
  clock: Pick<Clock, 'now'>;
  /** Origins of web TV apps that may read the error and its headers. Default: no origins. */
  corsOrigins?: readonly string[];
  /** Counts each answer. */
  metrics?: Pick<Metrics, 'answeredEarly'>;
}

/** All methods that the service supports. Each path allows only some methods. */
const allMethods = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT';

export function makeEarlyErrors({
  newId,
  clock,
  corsOrigins = [],
  metrics,
}: EarlyErrorsOptions): EarlyErrors {
  const corsHeaders = corsOrigins.length > 0 ? makeCorsHeaders(corsOrigins) : () => ({});

  const date = makeDateHeader(clock);
  const ownHeaders = (requestId: string) => ({
    'X-Request-Id': requestId,
    Date: date(),
    ...commonHeaders,
  });

  function parts(error: SignageError, given?: string | string[]) {
    const requestId = requestIdOf(given?.toString(), newId);
    const { status, headers, text } = problemParts(error, requestId);
    metrics?.answeredEarly(status);
    return { status, headers: { ...headers, ...ownHeaders(requestId) }, text };
  }

  return {
    request(incoming, outgoing, error) {
      const { status, headers, text } = parts(error, incoming.headers['x-request-id']);
      outgoing.writeHead(status, {
        ...headers,
        ...corsHeaders(incoming.headers.origin),
        'Content-Length': Buffer.byteLength(text),
      });
      outgoing.end(text);
    },
    serverOptions(incoming, outgoing) {
      const requestId = requestIdOf(incoming.headers['x-request-id']?.toString(), newId);
      metrics?.answeredEarly(204);
      outgoing.writeHead(204, { Allow: allMethods, ...ownHeaders(requestId) });
      outgoing.end();
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
      // The socket is destroyed rather than left half open, because the client may never close it.
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`, () =>
        socket.destroy(),
      );
    },
  };
}

const headersTooLarge =
  'The request line and headers take more than 8 KiB. Send fewer or shorter headers.';
/**
 * Created once, because capturing a stack trace takes a quarter of the time of a rejection.
 * Thousands of slow clients may time out together.
 */
const tooSlow = new SignageError(
  'request_timeout',
  'The request did not arrive in time. The limit is 10 seconds for the headers, and 15 seconds for the whole request.',
);

/** An error of Node's HTTP parser, with the data that it was parsing. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

const requestLine = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** Codes of Node's parser for unknown methods. The second code is for methods of RTSP. */
const methodErrors = ['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT'];

/** Returns whether the parser rejected a well-formed request line because its method is unknown. */
function hasUnknownMethod({ code = '', rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (!methodErrors.includes(code) || !rawPacket) return false;
  const lineStart = rawPacket.lastIndexOf('\n', bytesParsed) + 1;
  return requestLine.test(rawPacket.toString('latin1', lineStart));
}

/** Converts an error of Node's HTTP parser to a `SignageError`. */
export function connectionError(error: ParserError): SignageError {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new SignageError('headers_too_large', headersTooLarge);
  if (error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new SignageError(
      'body_too_large',
      'The chunk extensions are too large. Leave them out.',
    );
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow;
  if (hasUnknownMethod(error))
    return new SignageError('method_unknown', 'The service does not know this HTTP method.');
  return malformed('The input is not an HTTP request, or it is ambiguous.');
}

export function malformed(message: string): SignageError {
  return new SignageError('malformed_request', message);
}

export function unsupportedTransferCoding(): SignageError {
  return new SignageError(
    'transfer_encoding_unsupported',
    'The only supported transfer coding is chunked. Send the body unencoded, with Transfer-Encoding: chunked or a Content-Length.',
  );
}
