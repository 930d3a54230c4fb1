import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignageError } from '../domain/error.ts';

/** A server that listens. */
export interface Listening {
  url: string;
  /** Closes all connections. Resolves when they are closed. */
  close(): Promise<void>;
}

/**
 * Starts to listen. Port 0 takes any free port. `remedy` is the hint when the port is taken. Throws
 * `port_taken` or `invalid_option`.
 */
export async function listen(
  server: Server,
  { host, port, remedy }: { host: string; port: number; remedy: string },
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const error =
        cause.code === 'EADDRINUSE'
          ? new SignageError('port_taken', `Another program listens on ${host}:${port}.`, {
              cause,
              hint: remedy,
            })
          : new SignageError(
              'invalid_option',
              `Cannot listen on ${host}, port ${port}: ${cause.code}.`,
              { cause },
            );
      reject(error);
    });
    server.listen(port, host, resolve);
  });
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`,
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
