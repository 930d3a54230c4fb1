import { setMaxListeners } from 'node:events';
import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { interrupted } from './interrupted.ts';
import { answeredError, type Reply } from './problem.ts';
import type { MakeRequester, Requester } from './requester.ts';

/** One request as it goes out. */
export interface Exchange {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, beginning with `/`. */
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** All of it, connecting included, in milliseconds; of a stream, up to its beginning, and each pause in it. */
  timeoutMs: number;
  /** A successful answer is handed on as it comes, in `Reply.stream`. */
  streamed?: boolean;
  signal?: AbortSignal | undefined;
}

/** Larger answers are broken off: the largest page that the interface knows stays below. */
const largestAnswerBytes = 64 * 1024 * 1024;

/** The service's address without what must not be shown: `https://host:port/path`. */
export function serviceAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new SignageError(
      'invalid_option',
      'The address of the service must be an http or https URL such as http://127.0.0.1:4100.',
    );
  }
  if (parsed.username || parsed.password || parsed.search || parsed.hash) {
    throw new SignageError(
      'invalid_option',
      'The address of the service must be without user name, query and fragment.',
    );
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, '');
}

async function readText(body: AsyncIterable<Buffer>, service: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > largestAnswerBytes)
      throw new SignageError(
        'unexpected_answer',
        `${service} sent more than ${largestAnswerBytes} bytes.`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there. Is it running?',
  ENOTFOUND: 'there is no host of that name.',
  EAI_AGAIN: 'the host name cannot be looked up now.',
  ECONNRESET: 'it broke the connection off.',
  UND_ERR_SOCKET: 'it broke the connection off.',
  UND_ERR_CONNECT_TIMEOUT: 'connecting takes too long.',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed. --ca-file or NODE_EXTRA_CA_CERTS names a file of certificates to trust.',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is self-signed. --ca-file or NODE_EXTRA_CA_CERTS names a file of certificates to trust.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is not trusted. --ca-file or NODE_EXTRA_CA_CERTS names a file of certificates to trust.',
};

/** The code of a connection error; Node wraps one attempt per address into an AggregateError. */
function systemCode(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  return typeof code === 'string'
    ? code
    : Array.isArray(errors) && errors.length > 0
      ? systemCode(errors[0])
      : 'unknown';
}

function unreachable(error: unknown, service: string): SignageError {
  const code = systemCode(error);
  return new SignageError(
    'unreachable',
    `Cannot reach ${service}: ${reasons[code] ?? `the connection failed (${code}).`}`,
    {
      cause: error,
    },
  );
}

/** One request that is over: `outcome` is the status, or the code of the error when there was no answer. */
export interface Exchanged {
  method: string;
  path: string;
  outcome: string;
  tookMs: number;
}

export interface TransportOptions {
  service: string;
  clock: Clock;
  certificates?: readonly string[];
  makeRequester?: MakeRequester | undefined;
  onExchange?: ((exchange: Exchanged) => void) | undefined;
}

/**
 * Sends one request and reads the whole answer. Resolves with 2xx and 304; throws a `SignageError` for all else: the service's own code
 * for a problem document, `unreachable` when there is no answer in time, `unexpected_answer`, or `interrupted` when the signal aborts.
 */
export type Transport = (exchange: Exchange) => Promise<Reply>;

/** Loaded when the first request goes out, for those who do not choose another. */
const makeFastRequester: MakeRequester = async (certificates) =>
  (await import('./undici-requester.ts')).makeUndiciRequester(certificates);

/** How long to wait for the next sign of life, unless the caller's signal ends it. (`AbortSignal.any` would leave something behind at each request.) */
class Patience {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #ending = new AbortController();
  readonly #abort = () => this.#ending.abort();
  #cancel: () => void = () => {};

  constructor(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    if (caller) {
      // Any number of requests may hang on one signal.
      setMaxListeners(0, caller);
      caller.addEventListener('abort', this.#abort);
    }
    this.renew();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  renew(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#timeoutMs, this.#abort);
  }

  /** Time does not count until it is renewed. */
  rest(): void {
    this.#cancel();
  }

  end(): void {
    this.#cancel();
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}

/** A body as it comes; its errors are explained. */
async function* flow(
  body: AsyncIterable<Buffer>,
  patience: Patience,
  explain: (error: unknown) => SignageError,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      patience.rest();
      yield chunk;
      patience.renew();
    }
  } catch (error) {
    throw explain(error);
  } finally {
    patience.end();
  }
}

export function makeTransport({
  service,
  clock,
  certificates,
  makeRequester = makeFastRequester,
  onExchange,
}: TransportOptions): Transport {
  let requester: Promise<Requester> | undefined;

  async function fetchReply({
    timeoutMs,
    signal,
    path,
    streamed,
    ...wanted
  }: Exchange): Promise<Reply> {
    if (signal?.aborted) throw interrupted();
    const patience = new Patience(clock, timeoutMs, signal);
    const explain = (error: unknown) => {
      if (signal?.aborted) return interrupted();
      if (patience.signal.aborted) {
        return new SignageError(
          'unreachable',
          `${service} did not answer within ${timeoutMs / 1000} seconds.`,
          { cause: error },
        );
      }
      return error instanceof SignageError ? error : unreachable(error, service);
    };
    try {
      requester ??= makeRequester(certificates);
      const {
        statusCode: status,
        headers,
        body,
      } = await (await requester)(`${service}${path}`, {
        ...wanted,
        body: wanted.body ?? null,
        signal: patience.signal,
      });
      if (streamed && status === 200)
        return { status, headers, text: '', stream: flow(body, patience, explain) };
      const text = await readText(body, service);
      patience.end();
      return { status, headers, text };
    } catch (error) {
      patience.end();
      throw explain(error);
    }
  }

  return async (exchange) => {
    const startedAt = clock.now();
    const tell = (outcome: string) => {
      onExchange?.({
        method: exchange.method,
        path: exchange.path,
        outcome,
        tookMs: clock.now() - startedAt,
      });
    };
    let reply: Reply;
    try {
      reply = await fetchReply(exchange);
    } catch (error) {
      tell((error as SignageError).code);
      throw error;
    }
    tell(String(reply.status));
    if (reply.status === 304 || (reply.status >= 200 && reply.status < 300)) return reply;
    throw answeredError(reply, service, clock.now());
  };
}
