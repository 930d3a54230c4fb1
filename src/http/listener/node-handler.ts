import type { IncomingMessage, ServerResponse } from 'node:http';
import { secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { EarlyErrors } from './early-errors.ts';
import { makeRequestHandler, type RequestHandlerOptions } from './request-handler.ts';

/** Maximum number of requests that wait for their turn of the event loop. */
const maxWaiting = 20_000;
/** Maximum time that a stopping service waits for requests in progress. */
export const closeTimeoutMs = 10 * secondMs;

const bodyIsGone = () =>
  new SignageError(
    'internal_error',
    'The body was read before the request reached the service. Mount nodeHandler before body parsers.',
  );

/** Returns whether another handler has read the body or a part of the body. */
function isBodyGone({ headers, readableDidRead }: IncomingMessage): boolean {
  const hasBody =
    Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  return hasBody && readableDidRead;
}

/** Returns the error for requests after the service was stopped. */
export const serviceStopped = () =>
  new SignageError('unavailable', 'This service was stopped. Start it again.');

export interface NodeHandlerOptions extends RequestHandlerOptions {
  earlyErrors: EarlyErrors;
  /** Aborted when the service stops. */
  stopping: AbortSignal;
}

/**
 * Returns a handler for the server of another program, which owns connections and time-outs.
 * `idle` resolves when no request is in progress. After 10 s it closes the connections of all
 * requests in progress.
 */
export function makeNodeHandler({ earlyErrors, stopping, ...options }: NodeHandlerOptions) {
  const handle = makeRequestHandler(options, { earlyErrors, maxWaiting });
  const inProgress = new Set<ServerResponse>();
  let onIdle = () => {};

  function track(outgoing: ServerResponse): void {
    inProgress.add(outgoing);
    outgoing.once('close', () => {
      inProgress.delete(outgoing);
      if (inProgress.size === 0) onIdle();
    });
  }

  function cut(): void {
    for (const { req } of inProgress) req.socket.destroy();
  }

  return {
    nodeHandler(incoming: IncomingMessage, outgoing: ServerResponse): void {
      if (stopping.aborted) earlyErrors.request(incoming, outgoing, serviceStopped());
      else if (isBodyGone(incoming)) {
        const error = bodyIsGone();
        options.onError(error);
        earlyErrors.request(incoming, outgoing, error);
      } else {
        track(outgoing);
        handle(outgoing);
      }
    },

    /** Closes the connections of all requests in progress. */
    cut,

    async idle(): Promise<void> {
      if (inProgress.size === 0) return;
      const late = setTimeout(cut, closeTimeoutMs);
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      clearTimeout(late);
    },
  };
}
