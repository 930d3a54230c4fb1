import { type Clock, type Random, systemClock, systemRandom } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type Operation, type OperationId, operations } from '../wire/operations.ts';
import { readAnswer } from './answer.ts';
import type { CallAnswer, CallInput, PlainInput } from './call.ts';
import type { Reply } from './problem.ts';
import { requestPath } from './request-path.ts';
import type { MakeRequester } from './requester.ts';
import { defaultRetry, type RetryPolicy, withRetry } from './retry.ts';
import {
  type Exchange,
  type Exchanged,
  makeTransport,
  serviceAddress,
  type Transport,
} from './transport.ts';

/** What both clients take. */
export interface ClientOptions {
  /** Where the service is: `http://127.0.0.1:4100`, also with a path. */
  url: string;
  /** How long one try may take, in milliseconds; 30,000 unless said. A held answer (`waitSeconds`) has that longer. */
  timeoutMs?: number;
  /** How calls are repeated that may be: safe ones, and those with an `Idempotency-Key`. */
  retry?: Partial<RetryPolicy>;
  /** Certificates (PEM) to trust in place of Node's own. */
  certificates?: readonly string[];
  /** How requests are sent; with undici unless given. */
  makeRequester?: MakeRequester;
  /** Told of each request once it is over, each try by itself. The path is as it was sent: it may hold a pairing code. */
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  clock?: Clock;
  random?: Random;
}

/** An answer with what its headers say. */
export interface Answered<I extends OperationId> extends Pick<Reply, 'status' | 'headers'> {
  answer: CallAnswer<I>;
}

/** What may be sent again when its answer was lost: reading, and replacing something as a whole. */
const repeatable: readonly string[] = ['GET', 'PUT'];

/** What a request outside the table is made of. */
export interface RawRequest {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

const visible = /^[\x21-\x7e]+$/;

/** `Authorization` for a credential, which must be one that a header can carry. */
export function authorization(credential: string): { authorization: string } {
  if (!visible.test(credential))
    throw new SignageError(
      'invalid_option',
      'The token or key must be without blanks and control characters.',
    );
  return { authorization: `Bearer ${credential}` };
}

/** Calls operations of the table over HTTP; what the clients share. */
export class Caller {
  readonly service: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly #timeoutMs: number;
  readonly #policy: RetryPolicy;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.service = serviceAddress(options.url);
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? systemRandom;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#policy = { ...defaultRetry, ...options.retry };
    this.#transport = makeTransport({ service: this.service, clock: this.clock, ...options });
  }

  /** A fresh, unguessable `Idempotency-Key`. */
  makeIdempotencyKey(): string {
    return Buffer.from(this.random(16)).toString('hex');
  }

  /** One operation, with `headers` beside those of the input. */
  async exchange<I extends OperationId>(
    id: I,
    input: CallInput<I>,
    headers: Record<string, string>,
  ): Promise<Answered<I>> {
    const operation: Operation = operations[id];
    const plain: PlainInput = input;
    const mayRepeat = repeatable.includes(operation.method) || plain.idempotencyKey !== undefined;
    const reply = await this.#send(
      this.#request(operation, plain, headers),
      mayRepeat,
      plain.attempts,
    );
    const answer = readAnswer(operation, reply, this.service) as CallAnswer<I>;
    return { status: reply.status, headers: reply.headers, answer };
  }

  /** The body of an operation that answers no JSON, as it comes. */
  async stream<I extends OperationId>(
    id: I,
    input: CallInput<I>,
    headers: Record<string, string>,
  ): Promise<AsyncIterable<Buffer>> {
    const request = this.#request(operations[id], input, { accept: '*/*', ...headers });
    const { status, stream } = await this.#send({ ...request, streamed: true }, false);
    if (!stream)
      throw new SignageError(
        'unexpected_answer',
        `${this.service} answered ${status} without a body. Is it a signage service?`,
      );
    return stream;
  }

  /** Any request, for what is no operation of the table: the path with its query, `body` as JSON. */
  async send(
    method: Exchange['method'],
    path: string,
    { body, headers, signal }: RawRequest,
  ): Promise<Reply> {
    const own: Record<string, string> = {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request = {
      method,
      path,
      headers: { ...own, ...headers },
      body: text,
      timeoutMs: this.#timeoutMs,
      signal,
    };
    return this.#send(request, repeatable.includes(method));
  }

  #send(request: Exchange, mayRepeat: boolean, attempts = this.#policy.attempts): Promise<Reply> {
    const policy = { ...this.#policy, attempts };
    const context = {
      policy,
      clock: this.clock,
      random: this.random,
      signal: request.signal,
      mayRepeat,
    };
    return withRetry(() => this.#transport(request), context);
  }

  #request(operation: Operation, input: PlainInput, headers: Record<string, string>): Exchange {
    const heldSeconds = Number(input.query?.waitSeconds ?? 0) || 0;
    const own: Record<string, string> = { accept: 'application/json' };
    if (input.body !== undefined) own['content-type'] = 'application/json';
    if (input.idempotencyKey !== undefined) own['idempotency-key'] = input.idempotencyKey;
    return {
      method: operation.method,
      path: requestPath(operation, input),
      headers: { ...own, ...headers, ...input.headers },
      body: input.body === undefined ? undefined : JSON.stringify(input.body),
      timeoutMs: this.#timeoutMs + heldSeconds * 1000,
      signal: input.signal,
    };
  }
}
