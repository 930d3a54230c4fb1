import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Clock, randomHex, secondMs, systemRandom } from '../../domain/clock.ts';
import { readBody } from '../../domain/json/read-body.ts';
import { faultAnswer } from '../../faults/fault-answer.ts';
import type { FaultEffect, Faults, StatusEffect } from '../../faults/faults.ts';
import { callOf } from '../../faults/tv-call.ts';
import { type Listening, listen } from '../../network/listen.ts';
import { passedHeaders } from '../../network/passed-headers.ts';
import type { Running } from '../../serve.ts';
import {
  type ExchangeEnd,
  readAnswer,
  readRequest,
  refusedIndex,
  type TvAnswer,
  type TvRequest,
} from './exchange.ts';
import type { Preparations } from './preparations.ts';
import type { Recording } from './recording.ts';

/** Placeholder for the URL of the service, because requests name only a path. */
const baseUrl = 'http://tv.invalid';
/** Maximum size of a body that is read. The largest body of the protocol has 1 MiB. */
const maxBodyBytes = 2 * 1024 * 1024;
/** Maximum number of connections, including connections of other programs that find the port. */
const maxConnections = 500;
/**
 * Timeouts of requests. Connections that send no request are closed soon, so that they do not keep
 * out the TV.
 */
const timeouts = {
  headersTimeout: 5 * secondMs,
  requestTimeout: 15 * secondMs,
  connectionsCheckingInterval: secondMs,
};
/** Client address of requests that are not from the TV (reserved for documentation, RFC 5737). */
const strangerAddress = '192.0.2.1';

export interface FrontOptions {
  host: string;
  port: number;
  service: Pick<Running, 'fetch'>;
  recording: Recording;
  faults: Faults<TvRequest>;
  preparations: Preparations;
  /** The pairing codes that were shown so far. They are removed from recorded paths. */
  codes: readonly string[];
  /** Maximum hold of a request for changes, in seconds. */
  holdSeconds: number;
  clock: Clock;
}

/** The answer that the exam sends to the TV. */
interface ExamResponse {
  response: Response;
  body: Buffer;
}

/** A request in progress. */
interface Call {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  body: Buffer;
  isOfTv: boolean;
}

function forwardedHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(passedHeaders(incoming.headers)))
    headers.append(name, String(value));
  return headers;
}

/** Allows web TVs of any origin to read the answers of the exam and of its service. */
const corsHeaders = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' };

/** Returns the answer of a fault. A batch that is refused has one wrong event. */
function injectedAnswer(effect: StatusEffect, request: TvRequest): ExamResponse {
  const path = `/${refusedIndex(request)}/timestamp`;
  const { status, headers, text } = faultAnswer(
    effect,
    request.operation,
    randomHex(systemRandom, 8),
    [{ path, message: 'must be a whole number' }],
  );
  const body = Buffer.from(text);
  return {
    response: new Response(null, { status, headers: { ...corsHeaders, ...headers } }),
    body,
  };
}

/** Statuses of answers without a body and without a `Content-Length` (RFC 9110 section 8.6). */
const bodiless = [204, 304];

function writeAnswer(outgoing: ServerResponse, { response, body }: ExamResponse): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  delete headers['transfer-encoding'];
  if (!bodiless.includes(response.status)) headers['content-length'] = String(body.length);
  return new Promise((done) => {
    outgoing.once('close', done);
    outgoing.writeHead(response.status, headers);
    outgoing.end(body, done);
  });
}

/** Passes requests to the service and applies the active faults. */
class FrontHandler {
  readonly #options: FrontOptions;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { clock, recording, codes } = this.#options;
    const atMs = clock.now();
    const number = recording.nextNumber();
    const { socket, method = 'GET', url = '/' } = incoming;
    const address = socket.remoteAddress ?? '';
    const body = await readBody(incoming, maxBodyBytes);
    if (!body || !URL.canParse(url, baseUrl)) return void socket.destroy();
    const request = readRequest(method, url, incoming.headers, body, { address, codes });
    const isOfTv = recording.isOfTv(request);
    if (isOfTv) recording.claim(request);
    const call = request.operation && callOf[request.operation];
    const effect = isOfTv ? this.#options.faults.take(call, request)?.effect : undefined;
    const { end, answer, endMs } = await this.#play(effect, request, {
      incoming,
      outgoing,
      body,
      isOfTv,
    });
    if (!isOfTv) recording.addStranger();
    else recording.add({ ...request, number, atMs, endMs, end, answer, fault: effect?.id });
  }

  async #play(
    effect: FaultEffect | undefined,
    request: TvRequest,
    call: Call,
  ): Promise<{ end: ExchangeEnd; answer: TvAnswer | undefined; endMs: number }> {
    const { recording, clock } = this.#options;
    const { incoming, outgoing } = call;
    if (effect?.kind === 'lost-request' || effect?.kind === 'timeout') {
      const { kind, afterMs } = effect;
      if (kind === 'timeout') {
        await new Promise<void>((elapsed) => clock.after(afterMs, elapsed));
        // The headers are sent first, because a browser repeats a request if its connection breaks
        // before the answer begins.
        outgoing.writeHead(200).flushHeaders();
      }
      incoming.socket.destroy();
      return { end: 'cut', answer: undefined, endMs: clock.now() };
    }
    if (effect === undefined && call.isOfTv) await this.#options.preparations.run(request);
    const given =
      effect?.kind === 'status'
        ? injectedAnswer(effect, request)
        : await this.#askService(call, request, effect?.kind === 'at-once');
    const answer = readAnswer(given.response.status, given.response.headers, given.body);
    if (call.isOfTv) recording.learn(answer);
    // Read before the answer is sent, so that the TV's next request is never earlier.
    const endMs = clock.now();
    if (effect?.kind === 'lost-answer') {
      incoming.socket.destroy();
      return { end: 'lost', answer, endMs };
    }
    if (outgoing.destroyed) return { end: 'abandoned', answer, endMs };
    await writeAnswer(outgoing, given);
    return { end: 'answered', answer, endMs };
  }

  async #askService(
    { incoming, outgoing, body, isOfTv }: Call,
    { operation }: TvRequest,
    isAtOnce: boolean,
  ): Promise<ExamResponse> {
    const url = new URL(incoming.url ?? '/', baseUrl);
    const wait = Number(url.searchParams.get('waitSeconds') ?? Number.NaN);
    if (operation === 'getDeviceChanges' && wait > this.#options.holdSeconds)
      url.searchParams.set('waitSeconds', String(this.#options.holdSeconds));
    if (isAtOnce) url.searchParams.delete('waitSeconds');
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const method = incoming.method ?? 'GET';
    const request = new Request(url, {
      method,
      headers: forwardedHeaders(incoming),
      body:
        body.length === 0 || method === 'GET' || method === 'HEAD' ? null : new Uint8Array(body),
      signal: gone.signal,
    });
    // Unknown codes from strangers must not lock out the TV.
    const remoteAddress = isOfTv ? incoming.socket.remoteAddress : strangerAddress;
    const response = await this.#options.service.fetch(request, { remoteAddress });
    return { response, body: Buffer.from(await response.arrayBuffer()) };
  }
}

/** Starts to listen for the TV. Throws `port_taken` or `invalid_option`. */
export function openFront(options: FrontOptions): Promise<Listening> {
  const { host, port } = options;
  const handler = new FrontHandler(options);
  const server = createServer(timeouts, (incoming, outgoing) => {
    const { socket } = incoming;
    // The client has disconnected, or has not sent a valid request.
    handler.handle(incoming, outgoing).catch(() => socket.destroy());
  });
  server.maxConnections = maxConnections;
  return listen(server, { host, port, remedy: 'Choose another port.' });
}
