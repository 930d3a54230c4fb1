import { SignageError } from '../domain/error.ts';
import type { LogSink } from '../domain/log.ts';
import { type Peer, parseAddress } from '../http/request/client-address.ts';
import type { RewritePath } from '../http/request/mount-path.ts';
import type { FetchHandler } from '../http/request/request-context.ts';
import type { RequestInfo } from './serve-options.ts';

function peerOf(request: Request, { remoteAddress }: RequestInfo): Peer {
  const isText = typeof remoteAddress === 'string';
  const address = isText ? parseAddress(remoteAddress) : undefined;
  if (remoteAddress !== undefined && address === undefined)
    throw new SignageError(
      'invalid_option',
      `The remoteAddress of a request must be an IP address, not ${JSON.stringify(remoteAddress)}.`,
    );
  const forwarded = request.headers.get('x-forwarded-for');
  return {
    socket: { remoteAddress: address },
    headers: forwarded === null ? {} : { 'x-forwarded-for': forwarded },
  };
}

/**
 * Tracks responses in progress, including those whose client has disconnected. `idle` resolves when
 * no response is in progress.
 */
export function trackAnswers(answer: FetchHandler): {
  answer: (...call: Parameters<FetchHandler>) => Promise<Response>;
  idle(): Promise<void>;
} {
  const inProgress = new Set<Promise<Response>>();
  return {
    async answer(...call) {
      const answered = Promise.resolve(answer(...call));
      inProgress.add(answered);
      return answered.finally(() => inProgress.delete(answered));
    },
    idle: async () => void (await Promise.allSettled(inProgress)),
  };
}

/** Returns the request with the rewritten path, or the same request if its path stays the same. */
function withPath(request: Request, rewritePath: RewritePath): Request {
  const { origin, pathname, search } = new URL(request.url);
  const path = rewritePath(pathname);
  return path === pathname ? request : new Request(`${origin}${path}${search}`, request);
}

/** Parts of the service that `fetch` needs. */
interface InProcessOptions {
  /** `undefined`: the path of each request stays the same. */
  rewritePath: RewritePath | undefined;
  log: LogSink;
  /** Answers each request that arrives while the service stops or after that. */
  refuse(): Response;
  stopping: AbortSignal;
}

/** Returns the `fetch` of a service. It answers without a listener. */
export function makeInProcess(
  answer: FetchHandler,
  { rewritePath, log, refuse, stopping }: InProcessOptions,
) {
  let isWarned = false;

  function warnOnce({ method, url }: Request): void {
    if (isWarned || method !== 'POST' || new URL(url).pathname !== '/devices/register') return;
    isWarned = true;
    log.warn(
      {},
      'A registration was passed to fetch without its address. All such callers share one limit on unknown codes. Call fetch(request, { remoteAddress }).',
    );
  }

  return async (received: Request, info?: RequestInfo): Promise<Response> => {
    if (stopping.aborted) return refuse();
    const request = rewritePath ? withPath(received, rewritePath) : received;
    if (!info) warnOnce(request);
    return answer(request, info && { peer: peerOf(request, info) });
  };
}
