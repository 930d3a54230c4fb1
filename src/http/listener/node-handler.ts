import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignageError } from '../../domain/error.ts';
import type { EarlyErrors } from './early-errors.ts';
import { makeRequestHandler, type RequestHandlerOptions } from './request-handler.ts';

/** Maximum number of requests that wait for their turn of the event loop. */
const maxWaiting = 20_000;

const bodyIsGone = () =>
  new SignageError(
    'internal_error',
    'The body was read before the request reached the service. Mount nodeHandler before parsers of bodies.',
  );

/** Returns whether another handler has read the body, and left no copy of it. */
function isBodyGone({ headers, readableEnded }: IncomingMessage): boolean {
  const hasBody =
    Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  return hasBody && readableEnded;
}

/** Returns the error for requests after the service was stopped. */
export const serviceStopped = () =>
  new SignageError('unavailable', 'This service was stopped. Start it again.');

export interface NodeHandlerOptions extends RequestHandlerOptions {
  earlyErrors: EarlyErrors;
  /** Aborted when the service stops. */
  stopping: AbortSignal;
}

/** Returns a handler for the server of another program, which owns connections and time-outs. */
export function makeNodeHandler({ earlyErrors, stopping, ...options }: NodeHandlerOptions) {
  const handle = makeRequestHandler(options, { earlyErrors, maxWaiting });

  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (stopping.aborted) earlyErrors.request(incoming, outgoing, serviceStopped());
    else if (isBodyGone(incoming)) {
      const error = bodyIsGone();
      options.onError(error);
      earlyErrors.request(incoming, outgoing, error);
    } else handle(outgoing);
  };
}
