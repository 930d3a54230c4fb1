import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { getRequestListener, RequestError } from '@hono/node-server';
import { minuteMs, secondMs, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { makeIdSource } from '../../domain/id.ts';
import { makeLoopBudget } from '../admission/loop-budget.ts';
import type { FastPath } from '../fast-path/fast-path.ts';
import { asSignageError } from '../problem.ts';
import { bufferBody } from './buffer-body.ts';
import { makeClientErrorHandler } from './client-errors.ts';
import { makeRefuse, malformed, type Refuse, unsupportedTransferCoding } from './early-errors.ts';
import { keepTicksQuick } from './quick-ticks.ts';
import { RequestQueue } from './request-queue.ts';
import { cutStalledWrites } from './stalled-writes.ts';

export interface Tls {
  /** PEM texts. */
  cert: string;
  key: string;
}

export interface ListenerOptions {
  host: string;
  /** 0 takes any that is free. */
  port: number;
  tls?: Tls | undefined;
  fetch(
    request: Request,
    bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
  ): Response | Promise<Response>;
  /** Answers what is asked most, past `fetch`, or calls `next`. */
  hot?: FastPath | undefined;
  /** Told of what goes wrong with the socket later on; the service goes on. */
  onError(error: Error): void;
  /** Whether the service may begin with a request; one that it may not has been answered. It may begin with all unless given. */
  admit?: ((incoming: IncomingMessage, outgoing: ServerResponse) => boolean) | undefined;
  /** Whether a request shows a credential that worked lately: others begin beside it, and never keep it waiting. All do unless given. */
  isKnown?: ((incoming: IncomingMessage) => boolean) | undefined;
  /** How to refuse what is no request as we take it; in its own way unless given. */
  refuse?: Refuse;
  /** Time limits of connections. Shorter than the defaults in tests alone. */
  limits?: Partial<typeof ownLimits>;
}

/** Node's own limits are loose: a TV needs little time and little room to say what it wants. */
const ownLimits = {
  headersTimeout: 10 * secondMs,
  requestTimeout: 15 * secondMs,
  // Each look goes through all connections.
  connectionsCheckingInterval: 100,
  maxHeaderSize: 8 * 1024,
  // Checked here, for Node's own answer would be no problem document.
  requireHostHeader: false,
  /** Of TLS. */
  handshakeTimeout: 10 * secondMs,
  /** How long a client may take nothing of a response. */
  stalledWriteTimeout: minuteMs,
  /** How long `close` waits for requests in progress. */
  closeTimeout: 10 * secondMs,
};
const mostConnections = 20_000;
/** So many may wait to be accepted, where the system lets them: a TV of a herd that finds no room here knocks again only after 1 s, then 3 s, then 7 s. */
const backlog = 4096;
const sweepMs = 20;
/** Of each turn of the event loop, what strangers get: one or two requests. The fewer, the sooner the next TV is heard. */
const strangersTurnMs = 0.25;
/** So often one probe goes ahead of all that wait; others wait with strangers. */
const probeEveryMs = 5;

/** One `Host`, which HTTP/1.0 may leave out: with two, a proxy before the service may have taken the request for another one. */
function isHostClear({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/** Whether a body's length is clear. With other codings before `chunked` it is, but nobody decodes them (RFC 9112 §6.1). */
function isCodingKnown({ headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean {
  return coding === undefined || coding.toLowerCase() === 'chunked';
}

/** What tells whether the service is well is asked with little patience, and must not wait for a fleet. */
const isProbe = ({ req: { url = '' } }: ServerResponse) =>
  /^\/(healthz|readyz|metrics)\b/.test(url);

/** Whether a request may go ahead of all others: a probe may, but not a flood of them. */
function makeIsUrgent(): (outgoing: ServerResponse) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (outgoing) => {
    if (!isProbe(outgoing) || performance.now() - lastMs < probeEveryMs) return false;
    lastMs = performance.now();
    return true;
  };
}

/** All requests pass here, before anything is done for them. */
function makeEntrance(
  { fetch, hot, admit, isKnown = () => true, onError }: ListenerOptions,
  refuse: Refuse,
) {
  const errorHandler = (error: unknown) => {
    if (error instanceof RequestError)
      return refuse.response(malformed('The request line or the Host header is none.'));
    onError(error as Error);
    return refuse.response(asSignageError(error));
  };
  const app = getRequestListener(
    (request, env) =>
      fetch(request, env as { incoming: IncomingMessage; outgoing: ServerResponse }),
    {
      overrideGlobalObjects: false,
      // Where a health check in HTTP/1.0 names none.
      hostname: 'localhost',
      errorHandler,
    },
  );
  const begin = (outgoing: ServerResponse): void => {
    const incoming = outgoing.req;
    // Its client went away while it waited for its turn: nothing was done for it, and nobody is there to tell.
    if (incoming.socket.destroyed) return;
    if (admit && !admit(incoming, outgoing)) return;
    const intoApp = () => void app(incoming, outgoing);
    if (hot) hot(incoming, outgoing, intoApp);
    else intoApp();
  };
  const shared = { begin, isUrgent: makeIsUrgent(), mostWaiting: mostConnections };
  const inTurn = makeLoopBudget(shared);
  const strangersInTurn = makeLoopBudget({ ...shared, turnMs: strangersTurnMs });
  return (outgoing: ServerResponse): void => {
    const incoming = outgoing.req;
    const refuseAndClose = (error: SignageError) => {
      outgoing.setHeader('Connection', 'close');
      refuse.request(incoming, outgoing, error);
    };
    if (!isHostClear(incoming)) refuseAndClose(malformed('Send one Host header.'));
    else if (!isCodingKnown(incoming)) refuseAndClose(unsupportedTransferCoding());
    else
      bufferBody(incoming, () =>
        isKnown(incoming) ? inTurn(outgoing) : strangersInTurn(outgoing),
      );
  };
}

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
      `Something else listens on ${at} already: stop it, or choose another port (--port 0 takes any that is free).`,
      { cause },
    );
  }
  const why =
    cause.code === 'EACCES'
      ? 'this port takes more rights: choose one above 1023'
      : 'check the address';
  return new SignageError(
    'invalid_option',
    `Cannot listen on ${at} (${cause.code ?? cause.message}): ${why}.`,
    { cause },
  );
}

/** Throws `invalid_option` for what is no certificate with its key. */
function checkTls(tls: Tls): Tls {
  try {
    createSecureContext(tls);
    // It takes an empty key, too.
    if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key)))
      throw new Error('the key is of another certificate');
    return tls;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new SignageError(
      'invalid_option',
      `The TLS certificate and key cannot be used (${why}): give a PEM certificate and its own key.`,
      { cause },
    );
  }
}

/** Sockets of a server, from before the TLS handshake on: `closeAllConnections` knows those after it. */
function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Listens; the URL says where. `close` stops accepting, finishes what is under way for at most 10 s, then cuts what is left. */
export async function listen(options: ListenerOptions) {
  const {
    host,
    port,
    tls,
    onError,
    refuse = makeRefuse({ newId: makeIdSource(systemClock) }),
  } = options;
  const limits = { ...ownLimits, ...options.limits };
  const serverOptions = { ...limits, ...(tls && checkTls(tls)) };
  const requests = new RequestQueue({
    begin: makeEntrance(options, refuse),
    mostWaiting: mostConnections,
  });
  const onRequest = (_incoming: IncomingMessage, outgoing: ServerResponse) =>
    requests.add(outgoing);
  const server: Server = tls
    ? createHttpsServer(serverOptions, onRequest)
    : createHttpServer(serverOptions, onRequest);
  // An expectation that we do not know is no reason to refuse (RFC 9110 §10.1.1).
  server.on('checkExpectation', onRequest);
  server.on(
    'clientError',
    makeClientErrorHandler({ refuse, requests, requestTimeoutMs: limits.requestTimeout }),
  );
  // Without a session nothing can be sent, not even an alert. Node reports it as a `clientError` after this.
  server.prependListener('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy());
  cutStalledWrites(server, {
    limitMs: limits.stalledWriteTimeout,
    inProgress: (socket) => requests.inProgress(socket),
  });
  const sockets = trackSockets(server);
  server.maxConnections = mostConnections;
  await bind(server, host, port, onError);
  keepTicksQuick();
  const name = host.includes(':') ? `[${host}]` : host;
  const url = `${tls ? 'https' : 'http'}://${name}:${(server.address() as AddressInfo).port}`;

  return {
    url,
    /** Throws `invalid_option`, and keeps what it has, when the new one cannot be used. */
    replaceTls(next: Tls) {
      if (!tls)
        throw new SignageError(
          'invalid_option',
          'The service was started without TLS: there is no certificate to replace.',
        );
      (server as HttpsServer).setSecureContext(checkTls(next));
    },
    close: () =>
      new Promise<void>((resolve) => {
        const cut = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, limits.closeTimeout);
        // A connection falls idle when its answer is out: Node itself would wait for more requests on it.
        const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(sweep);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
