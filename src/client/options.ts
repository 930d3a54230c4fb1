import type { Clock, Random } from '../domain/clock.ts';
import { invalidOption } from '../domain/error.ts';
import type { PlainInput } from './call.ts';
import type { MakeRequester } from './requester.ts';
import type { Retry, RetryPolicy } from './retry.ts';
import type { Exchanged } from './transport.ts';

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
  makeRequester: MakeRequester;
  /** Called with the signal of each request before listeners are added. */
  prepareSignal?: ((signal: AbortSignal) => void) | undefined;
}

/** Types by name, without a schema library, because bundles for browsers contain them. */
type Kinds<Name extends string> = Record<
  Name,
  'text' | 'number' | 'function' | 'object' | 'list' | 'any'
>;

const optionKinds: Kinds<keyof ApiClientOptions> = {
  url: 'text',
  timeoutMs: 'number',
  retry: 'object',
  certificates: 'list',
  makeRequester: 'function',
  onExchange: 'function',
  onRetry: 'function',
  clock: 'object',
  random: 'function',
  prepareSignal: 'function',
};

const retryKinds: Kinds<keyof RetryPolicy> = {
  attempts: 'number',
  firstDelayMs: 'number',
  longestDelayMs: 'number',
  refusedForMs: 'number',
};

const inputKinds: Kinds<keyof PlainInput | 'timeoutMs'> = {
  params: 'object',
  query: 'object',
  body: 'any',
  idempotencyKey: 'text',
  headers: 'object',
  signal: 'object',
  attempts: 'number',
  timeoutMs: 'number',
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return typeof value === 'string' ? 'text' : typeof value;
}

function check(of: string, given: object, kinds: Kinds<string>): void {
  if (kindOf(given) !== 'object')
    throw invalidOption(`${of} must be an object with ${Object.keys(kinds).join(', ')}.`);
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined)
      throw invalidOption(
        `${of} cannot have ${JSON.stringify(name)}, only ${Object.keys(kinds).join(', ')}.`,
      );
    if (value === undefined || kind === 'any') continue;
    if (kindOf(value) !== kind || (kind === 'number' && !(value >= 0)))
      throw invalidOption(
        `${of}: ${name} must be a ${kind === 'number' ? 'number of at least 0' : kind}.`,
      );
  }
}

/**
 * Throws `invalid_option` for options of a client that are unknown or of a wrong type, such as
 * mistyped ones. `own` names further options that are texts.
 */
export function checkClientOptions(
  options: object,
  own: readonly ('token' | 'tenantId' | 'apiKey')[],
): void {
  const texts: Kinds<string> = Object.fromEntries(own.map((name) => [name, 'text']));
  check('The options of a client', options, { ...texts, ...optionKinds });
  const { retry } = options as Partial<ApiClientOptions>;
  if (retry !== undefined) check('The option retry of a client', retry, retryKinds);
}

/** Throws `invalid_option` for an unknown member of the input of a call, such as a mistyped one. */
export function checkInput(operation: string, input: object): void {
  check(`The input of ${operation}`, input, inputKinds);
}
