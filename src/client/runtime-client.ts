import { SignageError } from '../domain/error.ts';
import type { CallAnswer, CallInput } from './call.ts';
import { type Answered, authorization, Caller, type ClientOptions } from './caller.ts';
import { header } from './problem.ts';

export interface RuntimeOptions extends ClientOptions {
  /** The device key, `dak_…`; a TV that is not registered yet has none. */
  apiKey?: string | undefined;
}

/** Something that was fetched with an `ETag`: `answer` is `undefined` when it has not changed since. */
export interface Fetched<T> {
  answer: T | undefined;
  /** For the next call. */
  etag: string | undefined;
  /** `X-Source` of a playlist, `X-Config-Source` of a config. */
  source: string | undefined;
  /** When the service answered, by its own clock (the header `Date`), in Unix epoch milliseconds. */
  answeredAtMs: number | undefined;
}

interface AnyCall {
  signal?: AbortSignal | undefined;
  /** Tries in all, in place of the client's own `retry.attempts`. */
  attempts?: number;
}

interface KeyedCall extends AnyCall {
  /** Made anew unless given. Give the same one to repeat a call whose answer was lost. */
  idempotencyKey?: string;
}

interface ConditionalCall extends AnyCall {
  /** What the last answer carried. */
  etag?: string | undefined;
}

type Registration = CallInput<'registerDevice'>['body'];
type Events = CallInput<'postEvents'>['body'];

/**
 * A TV's side of a signage service. `id` is the screen's id, or the device's own.
 * Errors are `SignageError`s with the service's codes, or `unreachable`, `unexpected_answer` and `interrupted`.
 *
 * @example
 * const anyone = new RuntimeClient({ url: 'http://127.0.0.1:4100' });
 * const { screenId, apiKey } = await anyone.register({ pairingCode: 'ABCD2345', deviceInfo: { model: 'TV' } });
 * const { answer: playlist } = await anyone.withKey(apiKey).fetchPlaylist(screenId);
 */
export class RuntimeClient {
  readonly #options: ClientOptions;
  readonly #caller: Caller;
  readonly #headers: Record<string, string>;

  /** `caller` is for clients of the same service that send together: see `withKey`. */
  constructor({ apiKey, ...options }: RuntimeOptions, caller = new Caller(options)) {
    this.#options = options;
    this.#caller = caller;
    this.#headers = apiKey === undefined ? {} : authorization(apiKey);
  }

  /** The same service over the same connections, with this device key. */
  withKey(apiKey: string): RuntimeClient {
    return new RuntimeClient({ ...this.#options, apiKey }, this.#caller);
  }

  /** Binds a TV to the screen of a pairing code. The answer carries the device key, this once: keep it safe. */
  async register(
    body: Registration,
    { idempotencyKey = this.#caller.makeIdempotencyKey(), signal, attempts }: KeyedCall = {},
  ) {
    return (
      await this.#caller.exchange('registerDevice', { body, idempotencyKey, signal, attempts }, {})
    ).answer;
  }

  /** The active playlist of the screen. */
  async fetchPlaylist(
    id: string,
    call: ConditionalCall = {},
  ): Promise<Fetched<CallAnswer<'getPlaylist'>>> {
    return this.#fetched(
      await this.#caller.exchange('getPlaylist', this.#conditional(id, call), this.#headers),
      call,
      'x-source',
    );
  }

  /** The config that is in force for the device. */
  async fetchConfig(
    id: string,
    call: ConditionalCall = {},
  ): Promise<Fetched<CallAnswer<'getDeviceConfig'>>> {
    return this.#fetched(
      await this.#caller.exchange('getDeviceConfig', this.#conditional(id, call), this.#headers),
      call,
      'x-config-source',
    );
  }

  /** Sends 1 to 100 events, all or none; answers how many were stored. Once it answers they are safe. */
  async postEvents(
    id: string,
    body: Events,
    { idempotencyKey = this.#caller.makeIdempotencyKey(), signal, attempts }: KeyedCall = {},
  ): Promise<number> {
    const input = { params: { id }, body, idempotencyKey, signal, attempts };
    const { answer } = await this.#caller.exchange('postEvents', input, this.#headers);
    return answer.received;
  }

  /**
   * A new device key in place of this client's, which works until the new one is first used. Store it before that; `withKey` then calls with
   * it. An answer that was lost comes again for the same `idempotencyKey`. Throws `device_key_revoked` once another key has taken over.
   *
   * @example
   * const apiKey = await tv.rotateKey(screenId);
   * await keep(apiKey);
   * await tv.withKey(apiKey).fetchConfig(screenId);
   */
  async rotateKey(
    id: string,
    { idempotencyKey = this.#caller.makeIdempotencyKey(), signal, attempts }: KeyedCall = {},
  ): Promise<string> {
    const input = { params: { id }, idempotencyKey, signal, attempts };
    return (await this.#caller.exchange('rotateDeviceKey', input, this.#headers)).answer.apiKey;
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
    if (reply.status === 304 && etag === undefined) {
      throw new SignageError(
        'unexpected_answer',
        `${this.#caller.service} answered 304 to an unconditional request.`,
      );
    }
    const answeredAtMs = Date.parse(header(reply, 'date') ?? '');
    return {
      answer: reply.status === 304 ? undefined : reply.answer,
      etag: header(reply, 'etag') ?? (reply.status === 304 ? etag : undefined),
      source: header(reply, source),
      answeredAtMs: Number.isNaN(answeredAtMs) ? undefined : answeredAtMs,
    };
  }
}
