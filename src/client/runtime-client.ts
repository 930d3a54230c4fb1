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
}

interface KeyedCall {
  /** Made anew unless given. Give the same one to repeat a call whose answer was lost. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
}

interface ConditionalCall {
  /** What the last answer carried. */
  etag?: string | undefined;
  signal?: AbortSignal | undefined;
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

  constructor({ apiKey, ...options }: RuntimeOptions) {
    this.#options = options;
    this.#caller = new Caller(options);
    this.#headers = apiKey === undefined ? {} : authorization(apiKey);
  }

  /** The same service, with this device key. */
  withKey(apiKey: string): RuntimeClient {
    return new RuntimeClient({ ...this.#options, apiKey });
  }

  /** Binds a TV to the screen of a pairing code. The answer carries the device key, this once: keep it safe. */
  async register(body: Registration, { idempotencyKey = this.#caller.makeIdempotencyKey(), signal }: KeyedCall = {}) {
    return (await this.#caller.exchange('registerDevice', { body, idempotencyKey, signal }, {})).answer;
  }

  /** The active playlist of the screen. */
  async fetchPlaylist(id: string, call: ConditionalCall = {}): Promise<Fetched<CallAnswer<'getPlaylist'>>> {
    return this.#fetched(await this.#caller.exchange('getPlaylist', this.#conditional(id, call), this.#headers), call, 'x-source');
  }

  /** The config that is in force for the device. */
  async fetchConfig(id: string, call: ConditionalCall = {}): Promise<Fetched<CallAnswer<'getDeviceConfig'>>> {
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
    { idempotencyKey = this.#caller.makeIdempotencyKey(), signal }: KeyedCall = {},
  ): Promise<number> {
    const { answer } = await this.#caller.exchange('postEvents', { params: { id }, body, idempotencyKey, signal }, this.#headers);
    return answer.received;
  }

  #conditional(id: string, { etag, signal }: ConditionalCall) {
    const headers: Record<string, string> = etag === undefined ? {} : { 'if-none-match': etag };
    return { params: { id }, signal, headers };
  }

  #fetched<I extends 'getPlaylist' | 'getDeviceConfig'>(
    reply: Answered<I>,
    { etag }: ConditionalCall,
    source: string,
  ): Fetched<CallAnswer<I>> {
    if (reply.status === 304 && etag === undefined) {
      throw new SignageError('unexpected_answer', `${this.#caller.service} answered 304 to an unconditional request.`);
    }
    const sentTag = header(reply, 'etag');
    return { answer: reply.status === 304 ? undefined : reply.answer, etag: sentTag ?? etag, source: header(reply, source) };
  }
}
