// A TCP proxy between a TV and a service, which cuts, delays or answers requests itself.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEachFile } from './clean-up.ts';

export interface TcpProxyRules {
  /** Cuts a connection whose request has no answer after this time, in milliseconds. */
  cutAfterMs?: number;
  /** Keeps the bytes of an answer back for this long, in milliseconds. */
  delayMs?: number;
  /** Answered in place of the service. */
  answer?: string;
}

export interface TcpProxy {
  url: string;
  /** Affected requests: their request lines and times, in epoch milliseconds. */
  requests: { line: string; atMs: number }[];
}

const opened: (() => void)[] = [];
afterEachFile(async () => {
  for (const close of opened.splice(0)) close();
});

/** Applies the rules to requests whose first line contains `path`. Forwards all others. */
export async function tcpProxy(
  target: string,
  path: string,
  { cutAfterMs, delayMs = 0, answer }: TcpProxyRules,
): Promise<TcpProxy> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  const requests: TcpProxy['requests'] = [];

  function serve(client: Socket): void {
    const upstream = connect(Number(port), hostname);
    let isAffected = false;
    let timer: NodeJS.Timeout | undefined;
    const close = () => {
      clearTimeout(timer);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('close', close).on('error', () => {});
    }
    client.on('data', (bytes) => {
      const line = bytes.toString('latin1').split('\r\n', 1)[0] ?? '';
      isAffected = line.includes(path);
      if (isAffected) requests.push({ line, atMs: Date.now() });
      if (isAffected && answer !== undefined) return void client.write(answer);
      if (isAffected && cutAfterMs !== undefined) timer = setTimeout(close, cutAfterMs);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      clearTimeout(timer);
      if (isAffected && delayMs > 0) setTimeout(() => client.write(bytes), delayMs);
      else client.write(bytes);
    });
  }

  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, requests };
}
