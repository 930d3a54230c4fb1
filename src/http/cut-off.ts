import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectionError, type Refuse } from './refuse.ts';

/** A connection of the server, with the answer that is under way on it. */
type Connection = Socket & { _httpMessage?: ServerResponse | null };

interface Late {
  error: NodeJS.ErrnoException;
  socket: Connection;
  /** What was under way when it was found to be late, unless not even the headers had arrived. */
  message: ServerResponse | undefined;
}

/** As Node itself does, but with a problem document: nothing is written into an answer that has begun. */
function cutOff(refuse: Refuse, error: NodeJS.ErrnoException, socket: Connection): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) socket.destroy(error);
  else refuse.connection(socket, connectionError(error));
}

/**
 * What to do with connections on which something is wrong, for a server's `clientError`. Of those whose request is late hundreds may be found in one look: they
 * are cut off one in each turn of the event loop, so that nobody else waits for all of them. A request that has arrived whole by then is answered.
 */
export function makeCutOff(refuse: Refuse): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const late: Late[] = [];
  const turn = () => {
    const { error, socket, message = socket._httpMessage } = late.shift() as Late;
    if (!message?.req.complete) cutOff(refuse, error, socket);
    if (late.length > 0) setImmediate(turn);
  };
  return (error, duplex) => {
    const socket = duplex as Connection;
    const message = socket._httpMessage ?? undefined;
    // One that is whole is not the one that is late, but waits for its answer before it.
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || message?.req.complete) cutOff(refuse, error, socket);
    else if (late.push({ error, socket, message }) === 1) setImmediate(turn);
  };
}
