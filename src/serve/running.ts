import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tls } from '../http/listener/tls.ts';
import type { ServiceNotice } from '../service/notices/notice-follower.ts';
import type { RequestInfo } from './serve-options.ts';

/** Options of `close`. */
export interface CloseOptions {
  /** Whether to close all connections at once. Default: false. */
  force?: boolean;
}

/** A running service. */
export interface Running {
  /**
   * Base URL with the actual host and port, such as `http://127.0.0.1:4100`. With `listen: false`,
   * it is `publicUrl`. With `listen: false` and no `publicUrl`, it is a placeholder that no client
   * can reach.
   */
  url: string;
  /**
   * The platform token: the given token, or the token that this start created. `undefined` on later
   * starts without a given token or `newAdminToken`.
   */
  adminToken: string | undefined;
  /**
   * Returns the id of the management token with this secret, or `undefined` if the service rejects
   * it. Unlike a request, this does not end the rotation of the token.
   */
  identifyToken(secret: string): Promise<string | undefined>;
  /**
   * Answers a request without the listener, for a server of your own. Limits on guessed pairing
   * codes apply per client address. Without `info`, all callers share one limit, no address is
   * trusted, and audit entries have no address. Rejects with `invalid_option` if `remoteAddress` is
   * not an IP address. Responds with 503 after `close`.
   *
   * @example
   * app.all("/signage/*", ({ req }) => service.fetch(req.raw, { remoteAddress }));
   */
  fetch(request: Request, info?: RequestInfo): Promise<Response>;
  /**
   * Answers a request of a server of your own, as the listener would. Mount it before body parsers:
   * a request whose body was already read gets 500.
   *
   * @example
   * createServer(service.nodeHandler).listen(8080);
   */
  nodeHandler(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /**
   * Calls `listener` with each notice from now on (docs/protocol.md §5.16), of all tenants and
   * instances, in order. Errors of the listener are logged. Returns a function that stops it.
   *
   * @example
   * service.on('notice', ({ type, data }) => console.log(type, data.venue, data.screen));
   */
  on(event: 'notice', listener: (notice: ServiceNotice) => void): () => void;
  /**
   * Replaces the fault rules (docs/faults.md), from the next request on. Throws `invalid_option`
   * for an invalid rule, and if the service was started without the option `faults`.
   *
   * @example
   * const service = await serve({ faults: [] });
   * service.setFaults(['503:playlist']);
   */
  setFaults(rules: readonly string[]): void;
  /**
   * Replaces the TLS certificate for new connections. Throws `invalid_option` if the certificate is
   * invalid, or if the service was started without TLS.
   */
  replaceTls(tls: Tls): void;
  /**
   * Stops accepting requests, ends long polls, and waits at most 10 s for other requests in
   * progress. Spreads the ends of the long polls of TVs over at most 8 s. Then makes everything
   * durable. Further calls return the same promise. With `force`, closes all connections at once,
   * so that requests in progress get no answer; changes that were answered are still durable.
   */
  close(options?: CloseOptions): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
