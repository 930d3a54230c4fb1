import { randomBytes } from 'node:crypto';
import type { CallAnswer } from '../client/call.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';
import { type Clock, type Random, systemClock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type Batch, type EventInput, heartbeat, type Item, impression, type Playlist } from './batch.ts';
import type { DeviceInfoInput } from './tv-model.ts';

export interface PlayerOptions {
  /** Where the service is; it needs no key, for the player brings its own. */
  client: RuntimeClient;
  deviceInfo: DeviceInfoInput;
  signal?: AbortSignal | undefined;
  clock?: Clock;
  random?: Random;
}

/** What a player holds once it is registered. */
interface Binding {
  client: RuntimeClient;
  screenId: string;
  deviceId: string;
}

/**
 * One TV: registers once, then fetches and reports with the key it was given. Errors are the client's.
 *
 * @example
 * const tv = new Player({ client: new RuntimeClient({ url }), deviceInfo: { model: 'TV' } });
 * await tv.register('ABCD2345');
 * await tv.fetchPlaylist();
 * await tv.post(tv.makeBatch(10));
 */
export class Player {
  readonly #options: PlayerOptions & { clock: Clock; random: Random };
  #registering: { pairingCode: string; idempotencyKey: string } | undefined;
  #binding: Binding | undefined;
  #playlist: Playlist | undefined;
  #playlistTag: string | undefined;
  #config: CallAnswer<'getDeviceConfig'> | undefined;
  #configTag: string | undefined;
  #shown = 0;

  constructor(options: PlayerOptions) {
    this.#options = { clock: systemClock, random: randomBytes, ...options };
  }

  /** The ids that registration gave. */
  get screenId(): string {
    return this.#bound().screenId;
  }

  get deviceId(): string {
    return this.#bound().deviceId;
  }

  /** The playlist it plays, once fetched. */
  get playlist(): Playlist | undefined {
    return this.#playlist;
  }

  /** The config that is in force, as registration or the last fetch gave it. */
  get config(): CallAnswer<'getDeviceConfig'> | undefined {
    return this.#config;
  }

  /** Binds the TV to the screen of a code. Called again with the same code after a lost answer, it gets the same answer again. */
  async register(pairingCode: string): Promise<void> {
    const { client, deviceInfo, signal } = this.#options;
    if (this.#registering?.pairingCode !== pairingCode) this.#registering = { pairingCode, idempotencyKey: this.#makeKey() };
    const { idempotencyKey } = this.#registering;
    const { screenId, deviceId, apiKey, config } = await client.register({ pairingCode, deviceInfo }, { idempotencyKey, signal });
    this.#binding = { client: client.withKey(apiKey), screenId, deviceId };
    this.#config = config;
  }

  /** Fetches the playlist unless it has not changed; answers whether there was a new one. */
  async fetchPlaylist(): Promise<boolean> {
    const { client, screenId } = this.#bound();
    const { answer, etag } = await client.fetchPlaylist(screenId, { etag: this.#playlistTag, signal: this.#options.signal });
    if (answer) this.#playlist = answer;
    this.#playlistTag = etag;
    return answer !== undefined;
  }

  /** Likewise the config. */
  async fetchConfig(): Promise<boolean> {
    const { client, screenId } = this.#bound();
    const { answer, etag } = await client.fetchConfig(screenId, { etag: this.#configTag, signal: this.#options.signal });
    if (answer) this.#config = answer;
    this.#configTag = etag;
    return answer !== undefined;
  }

  /** The item that comes up next; after the last, the first again. `undefined` without a playlist. */
  nextItem(): Item | undefined {
    const items = this.#playlist?.items ?? [];
    return items.length === 0 ? undefined : items[this.#shown++ % items.length];
  }

  /** A heartbeat, and an impression for each item as it comes up, `size` events at most. Without a playlist it is the heartbeat alone. */
  makeBatch(size: number): Batch {
    const nowMs = this.#options.clock.now();
    const events: EventInput[] = [heartbeat(nowMs)];
    for (let left = size - 1; left > 0; left--) {
      const item = this.nextItem();
      const event = item && this.#playlist && impression(this.#playlist, item, nowMs);
      if (event) events.push(event);
    }
    return this.batchOf(events);
  }

  /** These events as a batch, with a key of its own. */
  batchOf(events: EventInput[]): Batch {
    return { events, idempotencyKey: this.#makeKey() };
  }

  /** Sends a batch, which is stored once also when it is posted again; answers how many events the service took. */
  async post({ events, idempotencyKey }: Batch): Promise<number> {
    const { client, screenId } = this.#bound();
    return client.postEvents(screenId, events, { idempotencyKey, signal: this.#options.signal });
  }

  #bound(): Binding {
    if (!this.#binding) throw new SignageError('not_registered', 'The player is not registered yet.');
    return this.#binding;
  }

  #makeKey(): string {
    return Buffer.from(this.#options.random(16)).toString('hex');
  }
}
