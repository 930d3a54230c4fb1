import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ServedRequest } from '../request/request-context.ts';
import { connectionError, type EarlyErrors } from './early-errors.ts';
import type { RequestQueue } from './request-queue.ts';

type Requests = Pick<RequestQueue, 'inProgress' | 'isHeld' | 'afterResponses'>;

interface ClientErrorOptions {
  earlyErrors: EarlyErrors;
  requests: Requests;
  /**
   * Milliseconds that a client has to complete a request after its connection was paused for
   * earlier responses.
   */
  requestTimeoutMs: number;
}

interface TimedOutRequest {
  error: NodeJS.ErrnoException;
  socket: Socket;
  /**
   * The response in progress when the time-out was found. `undefined` if the request's headers were
   * incomplete.
   */
  response: ServerResponse | undefined;
}

const isTimeout = ({ code }: NodeJS.ErrnoException) => code === 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Returns a handler for `clientError` of a server. One check of all connections may find hundreds
 * of timed-out requests. The handler rejects one request per turn of the event loop, so that other
 * requests are not delayed. A request that is complete by its turn is not rejected.
 */
export function makeClientErrorHandler({
  earlyErrors,
  requests,
  requestTimeoutMs,
}: ClientErrorOptions): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const timedOut: TimedOutRequest[] = [];

  /** Closes the connection, after a problem document unless a response has begun. */
  function rejectConnection(error: NodeJS.ErrnoException, socket: Socket): void {
    const response = requests.inProgress(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy(error);
    else if (response?.writableEnded) response.once('close', () => socket.destroy(error));
    else if (response?.headersSent) socket.destroy(error);
    else earlyErrors.connection(socket, connectionError(error));
  }

  function rejectNext(): void {
    const {
      error,
      socket,
      response = requests.inProgress(socket),
    } = timedOut.shift() as TimedOutRequest;
    if (!response?.req.complete) rejectConnection(error, socket);
    if (timedOut.length > 0) setImmediate(rejectNext);
  }

  return (error, duplex) => {
    const socket = duplex as Socket;
    const response = requests.inProgress(socket);
    const request: ServedRequest | undefined = response?.req;
    // The handler limits the pauses of a long body.
    if (isTimeout(error) && request?.hasLongBody) return;
    if (isTimeout(error) && requests.isHeld(socket))
      requests.afterResponses(socket, () => rejectConnection(error, socket), requestTimeoutMs);
    else if (isTimeout(error) && !response?.req.complete) {
      if (timedOut.push({ error, socket, response }) === 1) setImmediate(rejectNext);
    } else if (!isTimeout(error) && error.code !== 'ECONNRESET' && response?.req.complete) {
      // Responses to earlier requests are sent first (RFC 9112 §9.3.2).
      requests.afterResponses(socket, () => rejectConnection(error, socket));
    } else rejectConnection(error, socket);
  };
}
