import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectionError, type Refuse } from './early-errors.ts';
import type { RequestQueue } from './request-queue.ts';

type Requests = Pick<RequestQueue, 'inProgress' | 'isHeld' | 'afterResponses'>;

interface CutOffOptions {
  refuse: Refuse;
  requests: Requests;
  /** Milliseconds for the rest of a request that was not read while responses before it were sent. */
  requestTimeoutMs: number;
}

interface Late {
  error: NodeJS.ErrnoException;
  socket: Socket;
  /** The response in progress when the request was found to be late. None if its headers are incomplete. */
  message: ServerResponse | undefined;
}

const isLate = ({ code }: NodeJS.ErrnoException) => code === 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Handles `clientError` of a server. Hundreds of late requests may be found in one look at all
 * connections. They are cut off one in each turn of the event loop, so that nobody else waits for
 * all of them. A request that is complete by then is answered.
 */
export function makeClientErrorHandler({
  refuse,
  requests,
  requestTimeoutMs,
}: CutOffOptions): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const late: Late[] = [];

  /** Sends a problem document, unless a response has begun. */
  function cutOff(error: NodeJS.ErrnoException, socket: Socket): void {
    const message = requests.inProgress(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy(error);
    else if (message?.writableEnded) message.once('close', () => socket.destroy(error));
    else if (message?.headersSent) socket.destroy(error);
    else refuse.connection(socket, connectionError(error));
  }

  function turn(): void {
    const { error, socket, message = requests.inProgress(socket) } = late.shift() as Late;
    if (!message?.req.complete) cutOff(error, socket);
    if (late.length > 0) setImmediate(turn);
  }

  return (error, duplex) => {
    const socket = duplex as Socket;
    const message = requests.inProgress(socket);
    if (isLate(error) && requests.isHeld(socket))
      requests.afterResponses(socket, () => cutOff(error, socket), requestTimeoutMs);
    else if (isLate(error) && !message?.req.complete) {
      if (late.push({ error, socket, message }) === 1) setImmediate(turn);
    } else if (!isLate(error) && error.code !== 'ECONNRESET' && message?.req.complete) {
      // Responses to the requests before it come first (RFC 9112 §9.3.2).
      requests.afterResponses(socket, () => cutOff(error, socket));
    } else cutOff(error, socket);
  };
}
