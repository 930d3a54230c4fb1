import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { createAdaptorServer } from '@hono/node-server';
import { secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';

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
  fetch(request: Request, bindings: { incoming: IncomingMessage; outgoing: ServerResponse }): Response | Promise<Response>;
  /** Told of what goes wrong with the socket later on; the service goes on. */
  onError(error: Error): void;
}

/** Node's own limits are loose: a TV needs little time and little room to say what it wants. */
const limits = {
  headersTimeout: 10 * secondMs,
  requestTimeout: 15 * secondMs,
  connectionsCheckingInterval: 5 * secondMs,
  maxHeaderSize: 8 * 1024,
};
const mostConnections = 20_000;
const graceMs = 10 * secondMs;
const sweepMs = 20;

function twoHosts(incoming: IncomingMessage): boolean {
  return incoming.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1;
}

function bind(server: Server, host: string, port: number, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(bindError(cause, host, port)));
    server.listen(port, host, () => {
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
  const why = cause.code === 'EACCES' ? 'this port takes more rights: choose one above 1023' : 'check the address';
  return new SignageError('invalid_option', `Cannot listen on ${at} (${cause.code ?? cause.message}): ${why}.`, { cause });
}

/** Throws `invalid_option` for what is no certificate with its key. */
function checkTls(tls: Tls): Tls {
  try {
    createSecureContext(tls);
    // It takes an empty key, too.
    if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key))) throw new Error('the key is of another certificate');
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

/** Listens; the URL says where. `close` stops accepting, finishes what is under way for at most 10 s, then cuts what is left. */
export async function listen({ host, port, tls, fetch, onError }: ListenerOptions) {
  const createServer = tls && checkTls(tls) ? createHttpsServer : createHttpServer;
  const server = createAdaptorServer({
    fetch: (request, env) => {
      const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse };
      if (twoHosts(incoming)) return new Response('Send one Host header.\n', { status: 400, headers: { Connection: 'close' } });
      return fetch(request, { incoming, outgoing });
    },
    createServer: createServer as typeof createHttpServer,
    serverOptions: { ...limits, ...tls },
    overrideGlobalObjects: false,
  }) as Server;
  server.maxConnections = mostConnections;
  await bind(server, host, port, onError);
  const name = host.includes(':') ? `[${host}]` : host;
  const url = `${tls ? 'https' : 'http'}://${name}:${(server.address() as AddressInfo).port}`;

  return {
    url,
    /** Throws `invalid_option`, and keeps what it has, when the new one cannot be used. */
    replaceTls(next: Tls) {
      if (!tls) throw new SignageError('invalid_option', 'The service was started without TLS: there is no certificate to replace.');
      (server as HttpsServer).setSecureContext(checkTls(next));
    },
    close: () =>
      new Promise<void>((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
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
