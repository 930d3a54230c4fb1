// A proxy between a store and its database that can cut or freeze connections.
import { connect, createServer, type Socket } from 'node:net';
import { startLocally } from '../network/local-server.ts';

/** `onSent` receives all bytes that go to the database. */
export async function databaseProxy(database: string, onSent: (bytes: Buffer) => void = () => {}) {
  const target = new URL(database);
  const sockets = new Set<Socket>();
  let hung = false;
  let isAway = false;
  let cutText: string | undefined;
  let forwardsCut = true;

  function forward(from: Socket, to: Socket, isRequest: boolean): void {
    let silent = false;
    from.on('data', (bytes) => {
      if (hung || silent) return;
      if (isRequest) onSent(bytes);
      if (isRequest && cutText !== undefined && bytes.includes(cutText)) {
        cutText = undefined;
        if (!forwardsCut) return void from.destroy();
        to.write(bytes, () => from.destroy());
        // The database still executes the message.
        silent = true;
        from.off('close', closeOther);
        return;
      }
      to.write(bytes);
    });
    const closeOther = () => to.destroy();
    from.on('close', closeOther).on('error', () => {});
  }

  const server = createServer((client) => {
    if (isAway) return void client.on('error', () => {}).destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream])
      sockets.add(socket.on('close', () => sockets.delete(socket)));
    forward(client, upstream, true);
    forward(upstream, client, false);
  });
  const url = new URL(database);
  url.port = new URL((await startLocally(server)).url).port;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const cutAt = (text: string, forwards: boolean) => {
    cutText = text;
    forwardsCut = forwards;
  };
  return {
    /** The database through this proxy. */
    url: url.href,
    /** Drops all bytes from now on, without closing connections, like a lost network. */
    hang: () => {
      hung = true;
    },
    /** Forwards the next message with this text, and cuts the connection before the answer. */
    cutAfter: (text: string) => cutAt(text, true),
    /** Cuts the connection of the next message with this text, and does not forward it. */
    cutBefore: (text: string) => cutAt(text, false),
    /** Cuts all connections. */
    cut,
    /** Cuts all connections and refuses new ones until `comeBack`, like a stopped database. */
    goAway: () => {
      isAway = true;
      cut();
    },
    comeBack: () => {
      isAway = false;
    },
  };
}

export type DatabaseProxy = Awaited<ReturnType<typeof databaseProxy>>;
