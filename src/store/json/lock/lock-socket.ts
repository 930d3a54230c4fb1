import { connect, createServer, type Server } from 'node:net';

/** What the holder of a folder tells whoever asks. */
export interface Holder {
  pid: number;
  /** ISO 8601. */
  since: string;
  /** Tells this holder from all others. */
  nonce: string;
}

/** Gives a lock up again. */
export type Release = () => Promise<void>;

/** Who listens: `dead` when nobody does, `silent` when somebody does and says nothing of use. */
export type Answer = Holder | 'dead' | 'silent';

/** Somebody else holds the folder. */
export class HeldBy extends Error {
  constructor(other: Answer) {
    super(
      typeof other === 'object'
        ? `process ${other.pid}, since ${other.since}`
        : 'another process, which does not answer',
    );
  }
}

/** A holder is asked for no longer than this; one that took the call and is too busy to answer is alive. */
const answerMs = 2000;

/** Listens, and tells everyone who calls who holds the folder. Rejects with `EADDRINUSE` when the name is taken. */
export function listen(path: string, holder: Holder): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(`${JSON.stringify(holder)}\n`);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Not through a cluster's primary, which would share the name among its workers.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // What fails from here on fails for a caller, not for the holder.
      server.on('error', () => {});
      server.unref();
      resolve(server);
    });
  });
}

export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

export function ask(path: string): Promise<Answer> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    socket.setTimeout(answerMs, () => {
      resolve('silent');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '') ? 'dead' : 'silent'),
    );
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    socket.on('end', () => resolve(holderOf(text)));
  });
}

function holderOf(text: string): Holder | 'silent' {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return 'silent';
  }
}
