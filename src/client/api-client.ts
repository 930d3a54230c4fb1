import { type Clock, type Random, randomHex, systemClock, systemRandom } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type Operation, type OperationId, operations } from '../wire/operations/operations.ts';
import { readAnswer } from './answer.ts';
import type { CallAnswer, CallInput, PlainInput } from './call.ts';
import { answeredError, type Reply } from './problem.ts';
import { requestPath } from './request-path.ts';
import type { MakeRequester } from './requester.ts';
import { defaultRetry, type Retry, type RetryPolicy, withRetry } from './retry.ts';
import {
  type Exchanged,
  type HttpExchange,
  makeTransport,
  serviceAddress,
  type Transport,
} from './transport.ts';

/** Options of `ManagementClient` and `RuntimeClient`. */
export interface ClientOptions {
  /**
   * Base URL of the service, such as `http://127.0.0.1:4100`. It may have a path, but no
   * credentials, query or fragment.
   */
  url: string;
  /**
   * Timeout of one attempt, in milliseconds. Default: 30,000. For a long poll, `waitSeconds` is
   * added.
   */
  timeoutMs?: number;
  /**
   * Retry policy. Retries GET, PUT without a precondition, and calls with an `Idempotency-Key`
   * after any transient failure. Retries other calls only if the service rejected them with
   * `unavailable` and `Retry-After`. Repeats any call while the connection is refused, for at most
   * `refusedForMs`. Default: 0 ms; 4 attempts, 250 ms before the second, and at most
   * 30 s between two attempts.
   */
  retry?: Partial<RetryPolicy>;
  /** CA certificates (PEM) to trust in place of Node's own. */
  certificates?: readonly string[];
  /** Makes the function that sends the requests. Default: undici. */
  makeRequester?: MakeRequester;
  /**
   * Called after each request, retries included. `path` is unmasked: it may contain a pairing code.
   */
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  /**
   * Called before each wait for a further attempt, and with `undefined` at the end of a call that
   * has waited.
   */
  onRetry?: ((retry: Retry | undefined) => void) | undefined;
  /** Default: the system clock. */
  clock?: Clock;
  /** Source of idempotency keys and retry jitter. Default: the platform's CSPRNG. */
  random?: Random;
}

/**
 * Options of an `ApiClient`: the options of the client, and the parts that differ between Node and
 * browsers.
 */
export interface ApiClientOptions extends Omit<ClientOptions, 'makeRequester'> {
  makeRequester: MakeRequester<Uint8Array>;
  /** Called with the signal of each request before listeners are added. */
  prepareSignal?: ((signal: AbortSignal) => void) | undefined;
}

const optionNames = {
  url: true,
  timeoutMs: true,
  retry: true,
  certificates: true,
  makeRequester: true,
  onExchange: true,
  onRetry: true,
  clock: true,
  random: true,
  prepareSignal: true,
} satisfies Record<keyof ApiClientOptions, true>;

/** Throws `invalid_option` for a name that is no option. Types find it only in TypeScript. */
function checkNames(options: object): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown !== undefined)
    throw new SignageError(
      'invalid_option',
      `A client has no option ${JSON.stringify(unknown)}. It has token or apiKey, tenantId, ${Object.keys(optionNames).join(', ')}.`,
    );
}

/** A response: status, headers and parsed body. */
export interface Answered<I extends OperationId> extends Pick<Reply, 'status' | 'headers'> {
  answer: CallAnswer<I>;
}

/**
 * Methods that are retried after a lost response. DELETE is missing, because its retry could get
 * 404.
 */
const idempotentMethods: readonly string[] = ['GET', 'PUT'];

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request that is not an operation of `wire/operations/operations.ts`. */
export interface RawRequest {
  /** Bytes are sent as they are, other values as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Default: the timeout of the client. */
  timeoutMs?: number | undefined;
  /** Whether to return the body of a 200 as a stream, in `Reply.stream`. */
  streamed?: boolean | undefined;
}

/**
 * Returns whether a call may be repeated after a lost response. A repeated PUT with `If-Match`
 * would fail because of the first attempt's own change.
 */
function isRepeatable(method: string, headers: Record<string, string> = {}): boolean {
  const isConditional = Object.keys(headers).some((name) => /^if-(none-)?match$/i.test(name));
  return idempotentMethods.includes(method) && (method === 'GET' || !isConditional);
}

const visible = /^[\x21-\x7e]+$/;

/**
 * Builds the `Authorization` header. Throws `invalid_option` if the credential is missing, or has
 * characters that a header cannot carry.
 */
export function authorization(credential: string | undefined): { authorization: string } {
  if (credential === undefined || credential === '')
    throw new SignageError(
      'invalid_option',
      'There is no credential. A ManagementClient needs { token }, a RuntimeClient { apiKey }.',
    );
  if (!visible.test(credential))
    throw new SignageError(
      'invalid_option',
      'The token or key must not contain blanks, control characters or non-ASCII characters.',
    );
  return { authorization: `Bearer ${credential}` };
}

/** Returns an operation by its id. Throws `invalid_option` for an unknown id. */
export function operationOf(id: OperationId): Operation {
  if (Object.hasOwn(operations, id)) return operations[id];
  throw new SignageError(
    'invalid_option',
    `There is no operation ${JSON.stringify(id)}. See /openapi.json for all operation ids.`,
  );
}

/** Whether a 304 may answer the request. Without `If-None-Match`, the body would be missing. */
const isConditional = ({ headers }: HttpExchange) =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'if-none-match');

/**
 * Calls the operations of the wire over HTTP. `ManagementClient` and `DeviceClient` use
 * it.
 */
export class ApiClient {
  readonly service: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly #timeoutMs: number;
  readonly #policy: RetryPolicy;
  readonly #onRetry: ApiClientOptions['onRetry'];
  readonly #transport: Transport;

  constructor(options: ApiClientOptions) {
    checkNames(options);
    this.service = serviceAddress(options.url);
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? systemRandom;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#policy = { ...defaultRetry, ...options.retry };
    this.#onRetry = options.onRetry;
    this.#transport = makeTransport({ service: this.service, clock: this.clock, ...options });
  }

  /** Returns a new, unguessable `Idempotency-Key`. */
  makeIdempotencyKey(): string {
    return randomHex(this.random, 16);
  }

  /** Calls one operation. `headers` are sent in addition to the headers of the input. */
  async exchange<I extends OperationId>(
    id: I,
    input: CallInput<I> & Pick<RawRequest, 'timeoutMs'>,
    headers: Record<string, string>,
  ): Promise<Answered<I>> {
    const operation = operationOf(id);
    const plain: PlainInput & Pick<RawRequest, 'timeoutMs'> = input;
    const isIdempotent =
      plain.idempotencyKey !== undefined || isRepeatable(operation.method, plain.headers);
    const request = this.#request(operation.method, requestPath(operation, plain), plain, headers);
    const reply = await this.#send(request, isIdempotent, plain.attempts);
    const answer = readAnswer(operation, reply, this.service) as CallAnswer<I>;
    return { status: reply.status, headers: reply.headers, answer };
  }

  /** Calls an operation whose response is not JSON. Returns the response body as a stream. */
  async stream<I extends OperationId>(
    id: I,
    input: CallInput<I>,
    headers: Record<string, string>,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { method, path } = operationOf(id);
    const own = { accept: '*/*', ...headers };
    const request = this.#request(method, requestPath({ path }, input), input, own);
    const { status, stream } = await this.#send({ ...request, streamed: true }, false);
    if (!stream)
      throw new SignageError(
        'unexpected_answer',
        `${this.service} answered ${status} without a body. Is it a signage service?`,
      );
    return stream;
  }

  /**
   * Sends a request that is not an operation. `path` includes the query.
   */
  send(method: Method, path: string, request: RawRequest): Promise<Reply> {
    const { headers, streamed = false } = request;
    const exchange = { ...this.#request(method, path, request), streamed };
    return this.#send(exchange, isRepeatable(method, headers));
  }

  /**
   * Sends a request with retries. Resolves for 2xx, and for 304 if the request is conditional.
   * Otherwise throws the error.
   */
  #send(
    request: HttpExchange,
    isIdempotent: boolean,
    attempts = this.#policy.attempts,
  ): Promise<Reply> {
    const { clock, random } = this;
    const policy = { ...this.#policy, attempts };
    const attempt = async () => {
      const reply = await this.#transport(request);
      if (reply.status >= 200 && reply.status < 300) return reply;
      if (reply.status === 304) {
        if (isConditional(request)) return reply;
        throw new SignageError(
          'unexpected_answer',
          `${this.service} answered 304 to a request without If-None-Match. Is a cache in between?`,
        );
      }
      throw answeredError(reply, this.service, clock.now());
    };
    const { signal } = request;
    const onRetry = this.#onRetry;
    return withRetry(attempt, { policy, clock, random, signal, isIdempotent, onRetry });
  }

  #request(
    method: string,
    path: string,
    input: PlainInput & Pick<RawRequest, 'timeoutMs'>,
    own = {},
  ): HttpExchange {
    const { body, query, idempotencyKey, headers, signal, timeoutMs = this.#timeoutMs } = input;
    const waitSeconds = Number(query?.waitSeconds ?? 0) || 0;
    const defaults: Record<string, string> = { accept: 'application/json' };
    const isRaw = body instanceof Uint8Array;
    if (body !== undefined)
      defaults['content-type'] = isRaw ? 'application/octet-stream' : 'application/json';
    if (idempotencyKey !== undefined) defaults['idempotency-key'] = idempotencyKey;
    return {
      method,
      path,
      headers: { ...defaults, ...own, ...headers },
      body: isRaw
        ? (body as Uint8Array<ArrayBuffer>)
        : body === undefined
          ? undefined
          : JSON.stringify(body),
      timeoutMs: timeoutMs + waitSeconds * 1000,
      signal,
    };
  }
}
