import {
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { type HttpProxy, makeTunnelAgent, nodeHttp } from '../../../client/proxy-tunnel.ts';
import { unreachable } from '../../../client/transport.ts';
import { type Clock, secondMs } from '../../../domain/clock.ts';
import { limitInformational } from '../../../domain/informational-answers.ts';
import { type Listening, listen } from '../../../network/listen.ts';
import { passedHeaders } from '../../../network/passed-headers.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import { CapturedBody } from './captured-exchange.ts';
import type { Outcome } from './recording.ts';

export interface ProxyOptions {
  /** URL of the service, without a trailing slash. */
  target: string;
  host: string;
  /** Port to listen on. 0 takes any free port. */
  port: number;
  /** Certificates to trust (PEM), in place of Node's default certificates. */
  certificates?: readonly string[];
  /** The HTTP proxy between the recorder and the service. */
  proxy?: HttpProxy | undefined;
  clock: Clock;
  /** Called once for each request, after its answer has ended. */
  onExchange(exchange: CapturedExchange): void;
  /**
   * Called when a connection sends no valid HTTP. Gets the error code of Node's parser, or a
   * reason.
   */
  onInvalid(code: string): void;
}

const connectTimeoutMs = 10 * secondMs;

/** Returns the body of a 502. The TV treats it like any 5xx (docs/protocol.md §2.6). */
const badGateway = (detail: string) =>
  JSON.stringify({
    type: 'about:blank',
    title: 'Bad Gateway',
    status: 502,
    detail: `signage record: ${detail}`,
    code: 'unavailable',
    requestId: crypto.randomUUID(),
  });

/** A proxied exchange: forwards one request to the service, and its response to the TV. */
class PassedExchange {
  readonly #options: ProxyOptions;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #startedMs: number;
  readonly #requestBody: CapturedBody;
  readonly #answerBody: CapturedBody;
  #answerHeaders: IncomingHttpHeaders = {};
  #failure: Outcome | undefined;

  constructor(options: ProxyOptions, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#options = options;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#startedMs = options.clock.now();
    this.#requestBody = new CapturedBody(Number(incoming.headers['content-length'] ?? 0));
    this.#answerBody = new CapturedBody();
  }

  /** Forwards the exchange. Resolves when it has ended, successfully or not. */
  async pass(): Promise<void> {
    const incoming = this.#incoming;
    const outgoing = this.#outgoing;
    const ended = new Promise((resolve) => outgoing.once('close', resolve));
    incoming.on('data', (chunk: Buffer) => this.#requestBody.add(chunk));
    incoming.on('error', () => {});
    try {
      incoming.pipe(this.#forward());
    } catch (error) {
      this.#fail(error);
    }
    await ended;
    await this.#untilReceived();
    this.#report();
  }

  /** Opens the request to the service. Does not send its body yet. */
  #forward(): ClientRequest {
    const { clock, target, certificates, proxy } = this.#options;
    const { method, url, headers, headersDistinct } = this.#incoming;
    const { pathname, host, protocol } = new URL(target);
    const isSecure = protocol === 'https:';
    const trust = isSecure && certificates ? { ca: [...certificates] } : {};
    const passed = passedHeaders(headersDistinct);
    // Lets the service recognise its own web player, whose page has the host of the recorder.
    if (headers.host) passed['x-forwarded-host'] ??= [headers.host];
    if (headers['transfer-encoding'] !== undefined) passed['transfer-encoding'] = ['chunked'];
    // Uses a new connection for each request. The service may close an idle connection just when a
    // request arrives. The TV would then get a 502 that only the recorder causes. `keep-alive` is
    // needed because the service would otherwise cut a request that is too large before its 413
    // arrives.
    const upstream = nodeHttp(protocol).request({
      ...urlToHttpOptions(new URL(target)),
      path: `${pathname.replace(/\/$/, '')}${url}`,
      method,
      headers: { ...passed, host, connection: 'keep-alive' },
      agent: proxy ? makeTunnelAgent(proxy, protocol, trust) : false,
      ...trust,
    });
    limitInformational(upstream);
    const cancelTimeout = clock.after(connectTimeoutMs, () =>
      upstream.destroy(Object.assign(new Error('timeout'), { code: 'UND_ERR_CONNECT_TIMEOUT' })),
    );
    upstream.once('socket', (socket) => {
      // A tunnel through a proxy is connected already.
      if (proxy && !isSecure) cancelTimeout();
      else socket.once(isSecure ? 'secureConnect' : 'connect', cancelTimeout);
    });
    upstream.on('error', (error) => this.#fail(error));
    upstream.once('close', () => {
      cancelTimeout();
      this.#fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    });
    upstream.once('response', (answer) => this.#answer(answer));
    this.#outgoing.once('close', () => {
      upstream.destroy();
      this.#discardRest();
    });
    return upstream;
  }

  #answer(answer: IncomingMessage): void {
    const outgoing = this.#outgoing;
    answer.on('data', (chunk: Buffer) => this.#answerBody.add(chunk));
    answer.on('error', () => {
      this.#failure ??= 'service_left';
      outgoing.destroy();
    });
    outgoing.sendDate = false;
    try {
      outgoing.writeHead(answer.statusCode ?? 0, passedHeaders(answer.headersDistinct));
    } catch (error) {
      // Node refuses to send some headers and statuses that it accepts from a server.
      answer.destroy();
      this.#fail(error);
      return;
    }
    this.#answerHeaders = answer.headers;
    // Sends the headers at once, because a held answer or a stream may have no body yet.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
  }

  /** Answers 502 unless the answer has begun. `#answer` handles an answer that breaks off. */
  #fail(error: unknown): void {
    const outgoing = this.#outgoing;
    this.#discardRest();
    if (outgoing.headersSent || outgoing.destroyed) return;
    this.#failure = 'unreachable';
    const { message } = unreachable(error, this.#options.target);
    const body = badGateway(message);
    this.#answerHeaders = { 'content-type': 'application/problem+json' };
    this.#answerBody.add(Buffer.from(body));
    outgoing.writeHead(502, { 'content-type': 'application/problem+json' }).end(body);
  }

  /**
   * Waits until the request has arrived completely, or its connection is closed. Some answers, such
   * as a 413, end earlier.
   */
  async #untilReceived(): Promise<void> {
    const incoming = this.#incoming;
    if (incoming.readableEnded || incoming.socket.destroyed) return;
    await new Promise((resolve) => {
      incoming.once('end', resolve);
      incoming.socket.once('close', resolve);
    });
  }

  /** Reads the rest of the request without passing it on. */
  #discardRest(): void {
    this.#incoming.unpipe();
    this.#incoming.resume();
  }

  #report(): void {
    const { clock, onExchange } = this.#options;
    const incoming = this.#incoming;
    const outgoing = this.#outgoing;
    const left: Outcome = incoming.complete ? 'tv_left' : 'request_cut';
    onExchange({
      startedMs: this.#startedMs,
      tookMs: Math.max(0, clock.now() - this.#startedMs),
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      request: { headers: incoming.headers, body: this.#requestBody },
      status: outgoing.headersSent ? outgoing.statusCode : undefined,
      answer: { headers: this.#answerHeaders, body: this.#answerBody },
      outcome: this.#failure ?? (outgoing.writableFinished ? 'answered' : left),
    });
  }
}

/**
 * Starts a reverse proxy that reports each exchange. It passes bodies on without buffering them.
 * Throws `port_taken` or `invalid_option` if it cannot listen.
 */
export async function startProxy(options: ProxyOptions): Promise<Listening> {
  const { host, port, onInvalid } = options;
  const open = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    // The recorder forwards only paths. It rejects absolute URLs and `*`.
    if (!incoming.url?.startsWith('/')) {
      onInvalid('the request has no path');
      outgoing.writeHead(400, { connection: 'close' }).end();
      return;
    }
    const passed = new PassedExchange(options, incoming, outgoing).pass();
    open.add(passed);
    void passed.finally(() => open.delete(passed));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    onInvalid(error.code ?? 'unknown');
    socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  const remedy = 'Choose another port with --listen.';
  const { url, close } = await listen(server, { host, port, remedy });
  return {
    url,
    async close(): Promise<void> {
      await close();
      await Promise.all(open);
    },
  };
}
