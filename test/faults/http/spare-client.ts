import { connect, type Socket } from 'node:net';

export interface SpareAnswer {
  status: number;
  head: string;
}

const idleMs = 2_000;

/**
 * A client with little overhead: one request at a time on each connection, any number of
 * connections, only responses with `Content-Length`.
 */
export class SpareClient {
  readonly #to: { port: number; host: string };
  readonly #idle: { socket: Socket; sinceMs: number }[] = [];
  readonly #all = new Set<Socket>();

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#to = { host: hostname, port: Number(port) };
  }

  /**
   * Rejects when the connection ends without a response. The service may close an idle connection
   * at the same moment (RFC 9112 §9.3.1).
   */
  send(bytes: Buffer): Promise<SpareAnswer> {
    const reused = this.#reused();
    return reused
      ? this.#exchange(reused, bytes).catch(() => this.#exchange(this.#connect(), bytes))
      : this.#exchange(this.#connect(), bytes);
  }

  #exchange(socket: Socket, bytes: Buffer): Promise<SpareAnswer> {
    return new Promise((resolve, reject) => {
      let text = '';
      const read = (chunk: string) => {
        text += chunk;
        const headEnd = text.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        const head = text.slice(0, headEnd);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (text.length < headEnd + 4 + length) return;
        socket.off('data', read).off('close', lost);
        if (/^connection: close/im.test(head)) socket.destroy();
        else this.#idle.push({ socket, sinceMs: performance.now() });
        resolve({ status: Number(head.slice(9, 12)), head });
      };
      const lost = () =>
        reject(new Error(`the connection was closed after ${JSON.stringify(text.slice(0, 40))}`));
      socket.on('data', read).on('close', lost).write(bytes);
    });
  }

  close(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #connect(): Socket {
    const socket = connect({ ...this.#to, noDelay: true }).setEncoding('latin1');
    this.#all.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#all.delete(socket);
    });
    return socket;
  }

  /** Returns an idle connection that the service is not about to close. */
  #reused(): Socket | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (!last.socket.destroyed && performance.now() - last.sinceMs < idleMs) return last.socket;
      last.socket.destroy();
    }
    return undefined;
  }
}

/** Returns the bytes of a request. */
export function spareRequest(
  method: string,
  path: string,
  {
    host,
    key,
    headers = [],
    body = '',
  }: { host: string; key: string; headers?: string[]; body?: string },
): Buffer {
  const type =
    body === ''
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    ...type,
    ...headers,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
