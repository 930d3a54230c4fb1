import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, minuteMs, type Random, randomHex, secondMs } from '../../../domain/clock.ts';
import type { BoardTile } from '../../../domain/conditions/board-state.ts';
import { listen } from '../../../network/listen.ts';
import { readAsset } from '../../../package/assets.ts';
import { isLoopback } from '../../connection/loopback.ts';

const host = '127.0.0.1';
const secretBytes = 16;
/** How long a request for a change is held. */
const holdMs = 25 * secondMs;
/**
 * A connection without a byte in either direction is cut, one that does not read its answer after
 * twice the time. Longer than a hold.
 */
const silentMs = minuteMs;
const maxConnections = 256;
const closeMs = secondMs;
/** Time that a page has for its next request when the board ends. */
const nextRequestMs = 300;

const files: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '': ['board.html', 'text/html; charset=utf-8'],
  'board.js': ['board.js', 'text/javascript; charset=utf-8'],
  'board.css': ['board.css', 'text/css; charset=utf-8'],
};

/** Previews come from any host. Everything else comes from this server. */
function securityHeaders(hasPreviews: boolean): Record<string, string> {
  const media = hasPreviews ? ' http: https:' : '';
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src data:${media}`,
    `media-src${media || " 'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    // Requests for previews carry no cookies.
    'Cross-Origin-Embedder-Policy': 'credentialless',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };
}

function isEqual(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
}

/**
 * Whether a request comes from a page of this server, or from nobody's page. A site that points its
 * name to 127.0.0.1 (DNS rebinding) sends its own `Host`.
 */
function isOwn({ headers }: IncomingMessage): boolean {
  const address = `http://${headers.host}`;
  if (!URL.canParse(address) || !isLoopback(new URL(address).hostname)) return false;
  return headers.origin === undefined || headers.origin === address;
}

/**
 * Resolves once the connection is closed: after the answer to its next request, which tells the
 * page why the board ends, or soon without one.
 */
function lastRequest(socket: Socket): Promise<void> {
  socket.setTimeout(nextRequestMs);
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

export interface BoardServerOptions {
  /** 0 takes any free port. */
  port: number;
  hasPreviews: boolean;
  clock: Clock;
  random: Random;
}

/** The server of the page of `signage board`: its files, and its state by long poll. */
export class BoardServer {
  readonly #clock: Clock;
  readonly #secret: string;
  readonly #headers: Record<string, string>;
  readonly #server = createServer((request, response) => this.#answer(request, response));
  /** Answers the held requests. */
  readonly #held = new Set<() => void>();
  /** Connections of pages, which ask again after each answer. */
  readonly #viewers = new Set<Socket>();
  #ticket: string | undefined;
  #revision = 0;
  #at = '';
  #readMs: number;
  #problem: string | null = null;
  #tiles = Buffer.from('[]');
  #viewedMs: number;
  #farewell: string | undefined;

  private constructor({ clock, random, hasPreviews }: BoardServerOptions) {
    this.#clock = clock;
    this.#secret = randomHex(random, secretBytes);
    this.#headers = securityHeaders(hasPreviews);
    this.#readMs = clock.now();
    this.#viewedMs = clock.now();
    this.#server.maxConnections = maxConnections;
    this.#server.timeout = silentMs;
  }

  /** Throws `port_taken` or `invalid_option` if it cannot listen. */
  static async start(options: BoardServerOptions): Promise<BoardServer> {
    const board = new BoardServer(options);
    const remedy = 'Choose another port with --port.';
    await listen(board.#server, { host, port: options.port, remedy });
    return board;
  }

  get #origin(): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The address of the page. Everybody on this machine who knows it can see the page. */
  get url(): string {
    return `${this.#origin}/${this.#secret}/`;
  }

  /**
   * Returns an address that leads to the page once. Other users of the machine can read the
   * arguments of the program that opens it.
   */
  oneTimeUrl(random: Random): string {
    this.#ticket = randomHex(random, secretBytes);
    return `${this.#origin}/open/${this.#ticket}`;
  }

  /** Milliseconds since a viewer last asked. */
  get idleMs(): number {
    return this.#held.size > 0 ? 0 : this.#clock.now() - this.#viewedMs;
  }

  /** Replaces what the page shows. */
  publish(tiles: readonly BoardTile[], at: string): void {
    this.#at = at;
    this.#readMs = this.#clock.now();
    this.#update(null, Buffer.from(JSON.stringify(tiles)));
  }

  /** Says on the page that its data are old. */
  publishProblem(problem: string): void {
    this.#update(problem, this.#tiles);
  }

  #update(problem: string | null, tiles: Buffer<ArrayBuffer>): void {
    if (this.#revision > 0 && problem === this.#problem && tiles.equals(this.#tiles)) return;
    this.#problem = problem;
    this.#tiles = tiles;
    this.#revision++;
    for (const answer of [...this.#held]) answer();
  }

  /** Tells the page why it ends, and closes the server. */
  async close(farewell: string): Promise<void> {
    this.#farewell = farewell;
    const cancel = this.#clock.after(closeMs, () => this.#server.closeAllConnections());
    for (const answer of [...this.#held]) answer();
    await Promise.all([...this.#viewers].map(lastRequest));
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    await closed;
    cancel();
  }

  #send(response: ServerResponse, status: number, type: string, ...parts: (string | Buffer)[]) {
    response.writeHead(status, {
      ...this.#headers,
      'Content-Type': type,
      'Content-Length': parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0),
      ...(this.#farewell !== undefined && { Connection: 'close' }),
    });
    for (const part of parts) response.write(part);
    response.end();
  }

  #refuse(response: ServerResponse, status: number, text: string): void {
    response.setHeader('Connection', 'close');
    this.#send(response, status, 'text/plain; charset=utf-8', `${text}\n`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request;
    if (!isOwn(request))
      return void this.#refuse(response, 403, 'Open the page by its own address.');
    if (method !== 'GET') return void this.#refuse(response, 405, 'This page can only be read.');
    const [, secret = '', name, ...rest] = (url.split('?')[0] as string).split('/');
    if (this.#ticket !== undefined && isEqual(url, `/open/${this.#ticket}`)) {
      this.#ticket = undefined;
      response.setHeader('Location', `/${this.#secret}/`);
      return void this.#send(response, 303, 'text/plain; charset=utf-8');
    }
    if (!isEqual(secret, this.#secret) || name === undefined || rest.length > 0)
      return void this.#refuse(response, 404, 'There is no such page: copy the whole address.');
    this.#viewedMs = this.#clock.now();
    if (name === 'state') return void this.#hold(url, response);
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!file) return void this.#refuse(response, 404, 'There is no such file.');
    this.#send(response, 200, file[1], readAsset('web', file[0]));
  }

  /** Answers at the next change, if the page has the current revision. */
  #hold(url: string, response: ServerResponse): void {
    const after = Number(/[?&]after=(\d+)$/.exec(url)?.[1] ?? 0);
    if (after !== this.#revision || this.#farewell !== undefined)
      return void this.#sendState(response);
    const release = () => {
      this.#held.delete(answer);
      cancel();
      this.#viewedMs = this.#clock.now();
    };
    const answer = () => {
      release();
      this.#sendState(response);
    };
    const cancel = this.#clock.after(holdMs, answer);
    this.#held.add(answer);
    response.once('close', release);
  }

  #sendState(response: ServerResponse): void {
    if (this.#farewell !== undefined) return void this.#refuse(response, 410, this.#farewell);
    const head = JSON.stringify({
      revision: this.#revision,
      at: this.#at,
      ageMs: this.#clock.now() - this.#readMs,
      problem: this.#problem,
    });
    const { socket } = response;
    if (socket && !this.#viewers.has(socket)) {
      this.#viewers.add(socket);
      socket.once('close', () => this.#viewers.delete(socket));
    }
    // All viewers share the bytes of the tiles.
    const start = `${head.slice(0, -1)},"tiles":`;
    this.#send(response, 200, 'application/json', start, this.#tiles, '}');
  }
}
