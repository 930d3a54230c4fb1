import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { SignageError } from '../../domain/error.ts';
import { makeLoopBudget } from '../admission/loop-budget.ts';
import type { FastPath } from '../fast-path.ts';
import { bufferBody } from '../request/body.ts';
import type { RewritePath } from '../request/mount-path.ts';
import { asSignageError } from '../request/problem.ts';
import type { ServedRequest } from '../request/request-context.ts';
import { type EarlyErrors, malformed, unsupportedTransferCoding } from './early-errors.ts';

export interface RequestHandlerOptions {
  fetch(
    request: Request,
    bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
  ): Response | Promise<Response>;
  /** Answers the most frequent requests without `fetch`, or calls `next`. */
  fastPath?: FastPath | undefined;
  /** Rewrites the path of each request before anything else. Default: the path stays the same. */
  rewritePath?: RewritePath | undefined;
  /**
   * Called for unexpected errors after the start, such as errors of the server socket. The service
   * continues.
   */
  onError(error: Error): void;
  /**
   * Returns whether the service may handle a request. If not, the function has already answered the
   * request. Default: always true.
   */
  admit?: ((incoming: IncomingMessage, outgoing: ServerResponse) => boolean) | undefined;
  /**
   * Returns whether a request carries a recently verified credential. All other requests share a
   * smaller loop budget of their own, so that they do not delay requests of TVs. Default: always
   * true.
   */
  isKnown?: ((incoming: IncomingMessage) => boolean) | undefined;
}

/**
 * Loop budget in milliseconds for requests without a recently verified credential. It allows one or
 * two requests per turn. A smaller budget means less delay for TVs.
 */
const strangersBudgetMs = 0.25;
/**
 * Minimum milliseconds between two probes that skip the queue. Other probes are queued like
 * requests without a credential.
 */
const probeEveryMs = 5;

/**
 * Returns whether there is exactly one `Host` header, or no `Host` header in HTTP/1.0. With two
 * headers, the proxy could route by one header, and the service could read the other header.
 */
function isHostClear({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/**
 * Returns whether the transfer coding is supported. Other codings before `chunked` are valid (RFC
 * 9112 §6.1), but the service does not decode them.
 */
function isCodingKnown({ headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean {
  return coding === undefined || coding.toLowerCase() === 'chunked';
}

/**
 * A `.` or `..` segment, also percent-encoded. URL parsers resolve such segments, and read a
 * backslash as a slash (WHATWG URL), so a proxy may see another path than the service.
 */
const dotSegment = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/**
 * Returns whether a request is a probe. Probes time out quickly, so they must not wait behind
 * requests of TVs.
 */
const isProbe = ({ req: { url = '' } }: ServerResponse) =>
  /^\/(healthz|readyz|metrics)\b/.test(url);

/**
 * Returns a function that tells whether a request skips the queue. Only probes skip it, at a
 * limited rate.
 */
function makeIsUrgent(): (outgoing: ServerResponse) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (outgoing) => {
    if (!isProbe(outgoing) || performance.now() - lastMs < probeEveryMs) return false;
    lastMs = performance.now();
    return true;
  };
}

/** Returns the handler that receives every request first. */
export function makeRequestHandler(
  { fetch, fastPath, admit, isKnown = () => true, rewritePath, onError }: RequestHandlerOptions,
  { earlyErrors, maxWaiting }: { earlyErrors: EarlyErrors; maxWaiting: number },
): (outgoing: ServerResponse) => void {
  const errorHandler = (error: unknown) => {
    if (error instanceof RequestError)
      return earlyErrors.response(malformed('Malformed request line or Host header.'));
    onError(error as Error);
    return earlyErrors.response(asSignageError(error));
  };
  const app = getRequestListener(
    (request, env) =>
      fetch(request, env as { incoming: IncomingMessage; outgoing: ServerResponse }),
    {
      overrideGlobalObjects: false,
      // Host of requests without a `Host` header, such as HTTP/1.0 health checks.
      hostname: 'localhost',
      errorHandler,
    },
  );
  const begin = (outgoing: ServerResponse): void => {
    const incoming: ServedRequest = outgoing.req;
    // The client disconnected while the request was queued.
    if (incoming.socket.destroyed) return;
    if (admit && !admit(incoming, outgoing)) return;
    const intoApp = () => void app(incoming, outgoing).finally(() => incoming.admission?.end());
    if (fastPath && !incoming.sendContinue) fastPath(incoming, outgoing, intoApp);
    else intoApp();
  };
  const shared = { begin, isUrgent: makeIsUrgent(), maxWaiting };
  const beginKnown = makeLoopBudget(shared);
  const beginStranger = makeLoopBudget({ ...shared, budgetMs: strangersBudgetMs });
  return (outgoing: ServerResponse): void => {
    const incoming = outgoing.req;
    const rejectAndClose = (error: SignageError) => {
      outgoing.setHeader('Connection', 'close');
      earlyErrors.request(incoming, outgoing, error);
    };
    if (!isHostClear(incoming)) rejectAndClose(malformed('Send one Host header.'));
    else if (!isCodingKnown(incoming)) rejectAndClose(unsupportedTransferCoding());
    else if (dotSegment.test(incoming.url ?? ''))
      rejectAndClose(malformed('The path has a "." or ".." segment. Send the path it stands for.'));
    else if (incoming.method === 'OPTIONS' && incoming.url === '*')
      earlyErrors.serverOptions(incoming, outgoing);
    else {
      if (rewritePath) incoming.url = rewritePath(incoming.url ?? '/');
      bufferBody(incoming, () =>
        isKnown(incoming) ? beginKnown(outgoing) : beginStranger(outgoing),
      );
    }
  };
}
