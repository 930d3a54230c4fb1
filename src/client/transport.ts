import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { tooManyInformational } from '../domain/informational-answers.ts';
import { interrupted } from './pause.ts';
import type { Reply } from './problem.ts';
import type { MakeRequester, Requester } from './requester.ts';

/** One request. */
export interface HttpExchange {
  method: string;
  /** Path and query. Begins with `/`. */
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  /**
   * Timeout in milliseconds, connecting included. For a stream: until the response begins, and for
   * each chunk.
   */
  timeoutMs: number;
  /** Whether to return a successful response as a stream, in `Reply.stream`. */
  streamed?: boolean;
  signal?: AbortSignal | undefined;
}

/** Maximum response size. The largest page of the API is smaller. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Validates and normalises the base URL: `https://host:port/path`, without a trailing slash. Throws
 * `invalid_option`.
 */
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
      'The address of the service must not have a user name, password, query or fragment.',
    );
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, '');
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Joins chunks without `Buffer`, which browsers do not have. */
function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Returns the body of a response. Throws `unexpected_answer` if it is too large. */
export async function readReply(
  body: AsyncIterable<Uint8Array>,
  service: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxAnswerBytes)
      throw new SignageError(
        'unexpected_answer',
        `${service} sent more than ${maxAnswerBytes} bytes.`,
      );
    chunks.push(chunk);
  }
  return join(chunks, length);
}

const certificateHint = '--ca-file or NODE_EXTRA_CA_CERTS names a file of certificates to trust.';

const noTls = 'it does not speak https there. Try the URL with http://.';

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there. Is it running?',
  ENOTFOUND: 'the host name does not exist.',
  EAI_AGAIN: 'the host name lookup failed temporarily.',
  ECONNRESET: 'it closed the connection.',
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  UND_ERR_SOCKET: 'it closed the connection.',
  UND_ERR_CONNECT_TIMEOUT: 'connecting timed out.',
  [tooManyInformational]: 'it sends informational answers (1xx) without end.',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed. ${certificateHint}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is self-signed. ${certificateHint}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is not trusted. ${certificateHint}`,
};

/**
 * Returns the code of a connection error. Node wraps one error per address into an AggregateError.
 */
export function systemCode(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown[] };
  return typeof code === 'string'
    ? code
    : Array.isArray(errors) && errors.length > 0
      ? systemCode(errors[0])
      : 'unknown';
}

/** Makes the error for a connection that failed. */
export function unreachable(error: unknown, service: string): SignageError {
  const code = systemCode(error);
  return new SignageError(
    'unreachable',
    `Cannot reach ${service}: ${reasons[code] ?? `the connection failed (${code}).`}`,
    {
      cause: error,
    },
  );
}

/** A finished request. `outcome` is the status, or the error code if there was no response. */
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
  makeRequester: MakeRequester;
  prepareSignal?: ((signal: AbortSignal) => void) | undefined;
  onExchange?: ((exchange: Exchanged) => void) | undefined;
}

/**
 * Sends one request and reads the whole response, whatever its status. Throws a `SignageError`:
 * `unreachable` if there is no response in time, `unexpected_answer` if it is too large, or
 * `interrupted`.
 */
export type Transport = (exchange: HttpExchange) => Promise<Reply>;

/**
 * Aborts its signal after a timeout, or when the caller's signal aborts. `AbortSignal.any` would
 * leave a listener behind for each request.
 */
class InactivityTimeout {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort();
  #cancel: () => void = () => {};

  constructor(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#abort);
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#timeoutMs, this.#abort);
  }

  /** Stops the timer until `restart`. */
  pause(): void {
    this.#cancel();
  }

  dispose(): void {
    this.#cancel();
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}

/**
 * Yields the chunks of a body and converts its errors. The timeout covers only the wait for each
 * chunk.
 */
async function* streamBody(
  body: AsyncIterable<Uint8Array>,
  inactivity: InactivityTimeout,
  toSignageError: (error: unknown) => SignageError,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      inactivity.pause();
      yield chunk;
      inactivity.restart();
    }
  } catch (error) {
    throw toSignageError(error);
  } finally {
    inactivity.dispose();
  }
}

export function makeTransport({
  service,
  clock,
  certificates,
  makeRequester,
  prepareSignal,
  onExchange,
}: TransportOptions): Transport {
  let requester: Promise<Requester> | undefined;

  async function fetchReply({
    timeoutMs,
    signal,
    path,
    streamed,
    ...request
  }: HttpExchange): Promise<Reply> {
    if (signal?.aborted) throw interrupted(signal);
    if (signal) prepareSignal?.(signal);
    const inactivity = new InactivityTimeout(clock, timeoutMs, signal);
    const toSignageError = (error: unknown) => {
      if (signal?.aborted) return interrupted(signal);
      if (inactivity.signal.aborted) {
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
        ...request,
        body: request.body ?? null,
        signal: inactivity.signal,
      });
      if (streamed && status === 200)
        return { status, headers, text: '', stream: streamBody(body, inactivity, toSignageError) };
      const text = utf8.decode(await readReply(body, service));
      inactivity.dispose();
      return { status, headers, text };
    } catch (error) {
      inactivity.dispose();
      throw toSignageError(error);
    }
  }

  return async (exchange) => {
    const startedAt = clock.now();
    const { method, path } = exchange;
    const report = (outcome: string) =>
      onExchange?.({ method, path, outcome, tookMs: clock.now() - startedAt });
    try {
      const reply = await fetchReply(exchange);
      report(String(reply.status));
      return reply;
    } catch (error) {
      report((error as SignageError).code);
      throw error;
    }
  };
}
