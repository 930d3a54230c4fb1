import { connect, createServer, type Server } from 'node:net';

/** The lock holder, as it identifies itself to other processes. */
export interface Holder {
  pid: number;
  /** ISO 8601. */
  since: string;
  /** Unique for each holder. */
  nonce: string;
}

/** Releases the lock. */
export type Release = () => Promise<void>;

/** `dead`: nothing listens. `silent`: something listens but sends no valid holder. */
export type HolderStatus = Holder | 'dead' | 'silent';

/** Another process holds the lock of the folder. */
export class LockHeldError extends Error {
  constructor(other: HolderStatus) {
    super(
      typeof other === 'object'
        ? `process ${other.pid}, since ${other.since}`
        : 'another process, which does not answer',
    );
  }
}

/**
 * Timeout of a query, in milliseconds. A holder that accepts but does not reply is alive but busy.
 */
const queryTimeoutMs = 2000;

/**
 * Listens, and sends the holder to every client. Rejects with `EADDRINUSE` if the name is taken.
 */
export function listen(path: string, holder: Holder): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(`${JSON.stringify(holder)}\n`);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // `exclusive`: a cluster's primary would share the name among its workers.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // Later errors concern one connection, not the lock.
      server.on('error', () => {});
      server.unref();
      resolve(server);
    });
  });
}

export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Asks the process that listens on `path` who holds the lock. */
export function queryHolder(path: string): Promise<HolderStatus> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    socket.setTimeout(queryTimeoutMs, () => {
      resolve('silent');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '') ? 'dead' : 'silent'),
    );
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    socket.on('end', () => resolve(parseHolder(text)));
  });
}

function parseHolder(text: string): Holder | 'silent' {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return 'silent';
  }
}
