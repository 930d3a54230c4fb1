// Between a store and its database: lets bytes through until it is told otherwise.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEachFile } from './clean-up.ts';

export interface DatabaseProxy {
  /** The same database, by way of this. */
  url: string;
  /** From now on nothing comes or goes, and nobody is told: as when a network is gone. */
  hang(): void;
  /**
   * Hands the next message with this text on to the database, and cuts the connection before the
   * answer comes back.
   */
  cutAfter(text: string): void;
  /** Cuts the connection on which this text comes next, and hands nothing on. */
  cutBefore(text: string): void;
  /** Cuts all connections. */
  cut(): void;
  /** The same, and takes no other until `comeBack`: as when the database has stopped. */
  goAway(): void;
  comeBack(): void;
}

const opened: (() => Promise<void>)[] = [];
afterEachFile(() => Promise.all(opened.splice(0).map((close) => close())));

/** `asked` is shown all that goes to the database. */
export async function databaseProxy(
  database: string,
  asked: (bytes: Buffer) => void = () => {},
): Promise<DatabaseProxy> {
  const target = new URL(database);
  const sockets = new Set<Socket>();
  let hung = false;
  let isAway = false;
  let cutText: string | undefined;
  let handsOn = true;

  function carry(from: Socket, to: Socket, isQuestion: boolean): void {
    let silent = false;
    from.on('data', (bytes) => {
      if (hung || silent) return;
      if (isQuestion) asked(bytes);
      if (isQuestion && cutText !== undefined && bytes.includes(cutText)) {
        cutText = undefined;
        if (!handsOn) return void from.destroy();
        to.write(bytes, () => from.destroy());
        // The database goes on with what it was told.
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
    carry(client, upstream, true);
    carry(upstream, client, false);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(database);
  url.port = String((server.address() as { port: number }).port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  opened.push(async () => {
    cut();
    server.close();
  });
  return {
    url: url.href,
    hang: () => {
      hung = true;
    },
    cutAfter: (text) => {
      [cutText, handsOn] = [text, true];
    },
    cutBefore: (text) => {
      [cutText, handsOn] = [text, false];
    },
    cut,
    goAway: () => {
      isAway = true;
      cut();
    },
    comeBack: () => {
      isAway = false;
    },
  };
}
