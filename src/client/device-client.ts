import { secondMs } from '../domain/clock.ts';
import { type Answered, ApiClient, authorization } from './api-client.ts';
import type { CallAnswer, CallInput } from './call.ts';
import type {
  ActivePlaylist,
  ClaimStatus,
  CreatedClaim,
  DeviceConfig,
  EventInput,
  Registered,
  Registration,
} from './entities.ts';
import { type ApiClientOptions, type ClientOptions, checkClientOptions } from './options.ts';
import { header } from './problem.ts';

/** Maximum time between the end of a hold and its answer (docs/protocol.md §2.9). */
const lateMs = 10 * secondMs;

/** Returns the time of the service in an answer. */
function answeredAtMs(reply: Pick<Answered<'getPlaylist'>, 'headers'>): number | undefined {
  const dateMs = Date.parse(header(reply, 'date') ?? '');
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

/** Options of a `RuntimeClient`. */
export interface RuntimeOptions extends ClientOptions {
  /**
   * The device key, `dak_…`. Omit it for a TV that is not registered yet. The constructor throws
   * `invalid_option` if a header cannot carry the key.
   */
  apiKey?: string | undefined;
}

/** `makeRequester` is required. */
export type DeviceClientOptions = ApiClientOptions & Pick<RuntimeOptions, 'apiKey'>;

/** A response to a conditional request. */
export interface Fetched<T> {
  /**
   * The body. `undefined` if the service answered 304, because the given `etag` is still current.
   */
  answer: T | undefined;
  /** `ETag` of the response, for the next conditional request. */
  etag: string | undefined;
  /**
   * The header `X-Source` of a playlist, or `X-Config-Source` of a config. `undefined` if the
   * response lacks the header.
   */
  source: string | undefined;
  /**
   * Time of the response by the clock of the service (header `Date`), in Unix epoch milliseconds.
   * `undefined` without a valid header.
   */
  answeredAtMs: number | undefined;
}

/** An answer for changes. */
export type DatedChanges = CallAnswer<'getDeviceChanges'> & Pick<Fetched<unknown>, 'answeredAtMs'>;

/** Options of each call of a `DeviceClient`. */
export interface RuntimeCall {
  /** Aborts the call, which then rejects with `interrupted`. */
  signal?: AbortSignal | undefined;
  /** Maximum number of attempts, the first included. Overrides the client's `retry.attempts`. */
  attempts?: number;
}

/** Options of a call that the service carries out once per `Idempotency-Key`. */
export interface KeyedCall extends RuntimeCall {
  /** Default: a new random key. Pass the same key to repeat a call whose response was lost. */
  idempotencyKey?: string;
}

/** Options of `postEvents`. */
export interface EventsCall extends KeyedCall {
  /**
   * The TV's clock at the time of the call, in Unix epoch milliseconds: the header `X-Device-Time`.
   */
  deviceTime?: number | undefined;
}

/** Options of a conditional request. */
export interface ConditionalCall extends RuntimeCall {
  /** The `etag` of the previous response. Default: an unconditional request. */
  etag?: string | undefined;
}

/** Options of `fetchChanges`. */
export interface ChangesCall {
  /** The `cursor` of the previous answer. Without a cursor, the service answers at once. */
  after?: string | undefined;
  /**
   * Maximum duration of the hold in seconds: 1 to 600, for a claim 1 to 50. Without it, the service
   * answers at once.
   */
  waitSeconds?: number | undefined;
  /** Aborts the call, which then rejects with `interrupted`. */
  signal?: AbortSignal | undefined;
}

/**
 * Client of the device API, for Node and for browsers. All methods with a parameter `id` accept the
 * id of the screen or of the device. `RuntimeClient` is the same client with undici.
 *
 * Errors are `SignageError`s with the service's error codes, or `unreachable`, `unexpected_answer`
 * and `interrupted`.
 *
 * @example
 * const tv = new DeviceClient({ url, apiKey, makeRequester: makeFetchRequester });
 * const { answer: playlist } = await tv.fetchPlaylist(screenId);
 */
export class DeviceClient {
  readonly #options: Omit<DeviceClientOptions, 'apiKey'>;
  readonly #headers: Record<string, string>;
  #api: ApiClient;

  constructor(given: DeviceClientOptions) {
    checkClientOptions(given, ['apiKey']);
    const { apiKey, ...options } = given;
    this.#options = options;
    this.#api = new ApiClient(options);
    this.#headers = apiKey === undefined ? {} : authorization(apiKey);
  }

  /** Returns a client that uses another device key and shares the connections of this client. */
  withKey(apiKey: string): DeviceClient {
    const client = new DeviceClient({ ...this.#options, apiKey });
    client.#api = this.#api;
    return client;
  }

  /**
   * Binds a TV to the screen of a pairing code. The response contains the device key. The service
   * never shows the key again, so store it safely.
   */
  async register(
    body: Registration,
    { idempotencyKey = this.#api.makeIdempotencyKey(), signal, attempts }: KeyedCall = {},
  ): Promise<Registered> {
    return (
      await this.#api.exchange('registerDevice', { body, idempotencyKey, signal, attempts }, {})
    ).answer;
  }

  /**
   * Creates a claim, which the TV shows until an installer offers it a screen. Returns the claim
   * and its secret.
   */
  async createClaim(
    body: CallInput<'createClaim'>['body'],
    { idempotencyKey = this.#api.makeIdempotencyKey(), signal, attempts }: KeyedCall = {},
  ): Promise<CreatedClaim> {
    return (await this.#api.exchange('createClaim', { body, idempotencyKey, signal, attempts }, {}))
      .answer;
  }

  /**
   * Fetches the status of a claim by its secret. With `waitSeconds`, the service holds the answer
   * until an installer offers a screen, or that time has passed. Throws `claim_not_found` once the
   * claim has ended. Never retries.
   */
  async fetchClaim(
    claim: string,
    token: string,
    { waitSeconds, signal }: Omit<ChangesCall, 'after'> = {},
  ): Promise<ClaimStatus> {
    const input = { params: { claim }, query: { waitSeconds }, signal, attempts: 1 };
    return (await this.#api.exchange('getClaimStatus', input, authorization(token))).answer;
  }

  /** Fetches the active playlist of the screen. Throws `playlist_not_found` if there is none. */
  async fetchPlaylist(id: string, call: ConditionalCall = {}): Promise<Fetched<ActivePlaylist>> {
    return this.#fetched(
      await this.#api.exchange('getPlaylist', this.#conditional(id, call), this.#headers),
      call,
      'x-source',
    );
  }

  /** Fetches the effective config of the device. */
  async fetchConfig(id: string, call: ConditionalCall = {}): Promise<Fetched<DeviceConfig>> {
    return this.#fetched(
      await this.#api.exchange('getDeviceConfig', this.#conditional(id, call), this.#headers),
      call,
      'x-config-source',
    );
  }

  /**
   * Fetches the ETags of the device's current playlist and config. With `after` and `waitSeconds`,
   * the service holds the answer until it differs from the answer with that cursor, or that time
   * has passed. Never retries. Throws `unreachable` if there is no answer 10 seconds later.
   *
   * @example
   * const { cursor } = await tv.fetchChanges(screenId);
   * const { playlist } = await tv.fetchChanges(screenId, { after: cursor, waitSeconds: 50 });
   */
  async fetchChanges(
    id: string,
    { after, waitSeconds, signal }: ChangesCall = {},
  ): Promise<DatedChanges> {
    const timeoutMs = waitSeconds === undefined ? undefined : lateMs;
    const query = { after, waitSeconds };
    const input = { params: { id }, query, signal, attempts: 1, timeoutMs };
    const reply = await this.#api.exchange('getDeviceChanges', input, this.#headers);
    return { ...reply.answer, answeredAtMs: answeredAtMs(reply) };
  }

  /**
   * Sends 1 to 100 events, all or nothing. Resolves with the number of stored events, once they are
   * durable.
   */
  async postEvents(
    id: string,
    body: EventInput[],
    { idempotencyKey = this.#api.makeIdempotencyKey(), signal, attempts, ...more }: EventsCall = {},
  ): Promise<number> {
    const headers: Record<string, string> =
      more.deviceTime === undefined ? {} : { 'x-device-time': String(more.deviceTime) };
    const input = { params: { id }, body, headers, idempotencyKey, signal, attempts };
    const { answer } = await this.#api.exchange('postEvents', input, this.#headers);
    return answer.received;
  }

  /**
   * Requests a new device key. This client's key works until the new key is first used. Store the
   * new key before that, then use it with `withKey`. Repeating the same `idempotencyKey` returns
   * the same key again. Throws `device_key_revoked` if another key has replaced this client's key.
   *
   * @example
   * const apiKey = await tv.rotateKey(screenId);
   * await keep(apiKey);
   * await tv.withKey(apiKey).fetchConfig(screenId);
   */
  async rotateKey(
    id: string,
    { idempotencyKey = this.#api.makeIdempotencyKey(), signal, attempts }: KeyedCall = {},
  ): Promise<string> {
    const input = { params: { id }, idempotencyKey, signal, attempts };
    return (await this.#api.exchange('rotateDeviceKey', input, this.#headers)).answer.apiKey;
  }

  #conditional(id: string, { etag, signal, attempts }: ConditionalCall) {
    const headers: Record<string, string> = etag === undefined ? {} : { 'if-none-match': etag };
    return { params: { id }, signal, attempts, headers };
  }

  #fetched<I extends 'getPlaylist' | 'getDeviceConfig'>(
    reply: Answered<I>,
    { etag }: ConditionalCall,
    source: string,
  ): Fetched<CallAnswer<I>> {
    return {
      answer: reply.status === 304 ? undefined : reply.answer,
      etag: header(reply, 'etag') ?? (reply.status === 304 ? etag : undefined),
      source: header(reply, source),
      answeredAtMs: answeredAtMs(reply),
    };
  }
}
