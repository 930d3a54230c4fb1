import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { minuteMs, secondMs, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { makeIdSource } from '../../domain/id.ts';
import type { ServedRequest } from '../request/request-context.ts';
import { makeClientErrorHandler } from './client-errors.ts';
import { type EarlyErrors, makeEarlyErrors } from './early-errors.ts';
import { closeTimeoutMs } from './node-handler.ts';
import { makeRequestHandler, type RequestHandlerOptions } from './request-handler.ts';
import { RequestQueue } from './request-queue.ts';
import { cutStalledWrites } from './stalled-writes.ts';
import { checkTls, refuseTls, type Tls } from './tls.ts';

export interface ListenerOptions extends RequestHandlerOptions {
  host: string;
  /** Port to listen on. 0 chooses a free port. */
  port: number;
  /** Maximum number of connections at a time. Default: 20,000. */
  maxConnections?: number;
  /** Milliseconds for which an idle connection stays open. Default: 75 s. */
  keepAliveTimeoutMs?: number;
  tls?: Tls | undefined;
  /** Answers malformed requests. Default: `makeEarlyErrors` with a new id source. */
  earlyErrors?: EarlyErrors;
  /** Limits of connections. Only tests set them. Default: `defaultLimits`. */
  limits?: Partial<typeof defaultLimits>;
}

/** Limits that are stricter than Node's defaults, because requests of TVs are short. */
const defaultLimits = {
  headersTimeout: 10 * secondMs,
  requestTimeout: 15 * secondMs,
  // Milliseconds between two checks of all connections for time-outs.
  connectionsCheckingInterval: 100,
  maxHeaderSize: 8 * 1024,
  // Off, because Node's own response would not be a problem document. The request handler checks
  // the `Host` header instead.
  requireHostHeader: false,
  /** Time-out of the TLS handshake. */
  handshakeTimeout: 10 * secondMs,
  /** Maximum time in which a client reads nothing of a response. */
  stalledWriteTimeout: minuteMs,
  /** Time after which idle connections of strangers are closed under `pressure`. */
  strangersKeepAlive: 5 * secondMs,
  /** Milliseconds between two checks for `pressure`. */
  pressureCheckInterval: secondMs,
  /** Maximum time that `close` waits for requests in progress. */
  closeTimeout: closeTimeoutMs,
};
/**
 * Length of the accept queue, if the system allows it. When it is full, TVs retry only after 1 s,
 * 3 s and 7 s.
 */
const backlog = 4096;
const sweepMs = 20;
/**
 * Share of the maximum number of connections above which idle connections without a verified
 * credential are closed early. Otherwise strangers could take all connections for the whole
 * keep-alive time.
 */
const pressure = 0.8;

function bind(
  server: Server,
  host: string,
  port: number,
  onError: (error: Error) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(bindError(cause, host, port)));
    server.listen({ port, host, backlog }, () => {
      server.removeAllListeners('error').on('error', onError);
      resolve();
    });
  });
}

function bindError(cause: NodeJS.ErrnoException, host: string, port: number): SignageError {
  const at = `${host}:${port}`;
  if (cause.code === 'EADDRINUSE') {
    return new SignageError(
      'port_taken',
      `${at} is already in use. Stop the other program, or choose another port (--port 0 chooses a free one).`,
      { cause },
    );
  }
  const why =
    cause.code === 'EACCES'
      ? 'this port needs more privileges; choose one above 1023'
      : 'check the address';
  return new SignageError(
    'invalid_option',
    `Cannot listen on ${at} (${cause.code ?? cause.message}): ${why}.`,
    { cause },
  );
}

/**
 * Tracks all sockets of a server, because `closeAllConnections` does not close a socket during its
 * TLS handshake.
 */
function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

/**
 * Starts to listen. `close` stops accepting, finishes requests in progress for at most 10 s, then
 * destroys the remaining connections.
 */
export async function openListener(options: ListenerOptions) {
  const {
    host,
    port,
    maxConnections = 20_000,
    keepAliveTimeoutMs = 75 * secondMs,
    tls,
    onError,
    earlyErrors = makeEarlyErrors({ newId: makeIdSource(systemClock), clock: systemClock }),
  } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const serverOptions = {
    ...limits,
    keepAliveTimeout: keepAliveTimeoutMs,
    ...(tls && checkTls(tls)),
  };
  const requests = new RequestQueue({
    begin: makeRequestHandler(options, { earlyErrors, maxWaiting: maxConnections }),
    maxWaiting: maxConnections,
  });
  const onRequest = (_incoming: IncomingMessage, outgoing: ServerResponse) =>
    requests.add(outgoing);
  const server: Server = tls
    ? createHttpsServer(serverOptions, onRequest)
    : createHttpServer(serverOptions, onRequest);
  server.on('checkContinue', (incoming: ServedRequest, outgoing: ServerResponse) => {
    incoming.sendContinue = () => outgoing.writeContinue();
    requests.add(outgoing);
  });
  // An unknown expectation is no reason to reject a request (RFC 9110 §10.1.1).
  server.on('checkExpectation', onRequest);
  server.on(
    'clientError',
    makeClientErrorHandler({ earlyErrors, requests, requestTimeoutMs: limits.requestTimeout }),
  );
  // Destroys the socket before Node emits a `clientError` for it. Without a TLS session nothing can
  // be sent, not even an alert.
  server.prependListener('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy());
  cutStalledWrites(server, {
    limitMs: limits.stalledWriteTimeout,
    inProgress: (socket) => requests.inProgress(socket),
  });
  const sockets = trackSockets(server);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.maxConnections = maxConnections;
  await bind(server, host, port, onError);
  const pressureCheck = setInterval(() => {
    if (sockets.size > pressure * maxConnections)
      requests.closeIdleStrangers(limits.strangersKeepAlive);
  }, limits.pressureCheckInterval).unref();
  const name = host.includes(':') ? `[${host}]` : host;
  const url = `${tls ? 'https' : 'http'}://${name}:${(server.address() as AddressInfo).port}`;

  return {
    url,
    /** Throws `invalid_option`, and keeps the current certificate, if the new one is invalid. */
    replaceTls(next: Tls) {
      if (!tls) return refuseTls();
      (server as HttpsServer).setSecureContext(checkTls(next));
    },
    /** Destroys all connections. */
    cut,
    close: () =>
      new Promise<void>((resolve) => {
        const late = setTimeout(cut, limits.closeTimeout);
        // Closes connections that become idle after their response. Node would keep them open for
        // further requests.
        const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
        server.close(() => {
          clearInterval(pressureCheck);
          clearTimeout(late);
          clearInterval(sweep);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
