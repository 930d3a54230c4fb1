import { type Clock, type Random, randomHex, systemClock, systemRandom } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type Operation, type OperationId, operations } from '../wire/operations/operations.ts';
import { readAnswer } from './answer.ts';
import { type CallAnswer, type CallInput, type PlainInput, requestPath } from './call.ts';
import { type ApiClientOptions, checkInput } from './options.ts';
import { answeredError, type Reply } from './problem.ts';
import { defaultRetry, type RetryPolicy, withRetry } from './retry.ts';
import { type HttpExchange, makeTransport, serviceAddress, type Transport } from './transport.ts';

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
    if (options.makeRequester === undefined)
      throw new SignageError('invalid_option', 'The option makeRequester of a client is required.');
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
    checkInput(id, input);
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
