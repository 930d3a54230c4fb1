import { setImmediate } from 'node:timers/promises';
import type { EventInput, PlaylistItem } from '../../../src/client/entities.ts';
import type { Requester } from '../../../src/client/requester.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { Player } from '../../../src/player/assembly/player.ts';
import { type PlaybackFailure, type Stage, timerStage } from '../../../src/player/stage.ts';
import { ramMemory } from '../../../src/player/state.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { mounted } from '../../support/service/mounted.ts';

/**
 * The kinds of TVs. `simulator`, `tv` and `web` are players: `tv` reports every 20 seconds, and
 * `web` prepares its items. `mute` never reports. `slow` reports every 30 minutes. `epoch` begins
 * its clock in 1970 with each start, and does not tell its time.
 */
export const kinds = ['simulator', 'tv', 'web', 'mute', 'slow', 'epoch'] as const;
export type Kind = (typeof kinds)[number];

/** Time between two steps of the town. */
const stepMs = 5 * secondMs;
const syncMs = 5 * minuteMs;
const reportMs: Partial<Record<Kind, number>> = { slow: 30 * minuteMs, epoch: minuteMs };
const maxBatch = 100;

export interface Judged {
  condition: string;
  reason: string | null;
}

interface StatusPage {
  items: { screen: { id: string }; condition: string; reason: { code: string } | null }[];
  nextCursor: string | null;
}

export type Town = Awaited<ReturnType<typeof makeTown>>;

/** A service in this process, with a clock that TVs and service share. */
export async function makeTown() {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  const service = await mounted({ store, clock });
  let busy = 0;

  /** Sends a request, whose answer belongs to the present step unless it is held. */
  async function send(url: string, { method, headers, body, signal }: Parameters<Requester>[1]) {
    const sent = new Headers(headers);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    if (bytes) sent.set('content-length', String(bytes.length));
    const isHeld = url.includes('waitSeconds=');
    if (!isHeld) busy++;
    try {
      const request = new Request(url, { method, headers: sent, body: bytes, signal });
      const answer = await service.fetch(request);
      return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
    } finally {
      if (!isHeld) busy--;
    }
  }

  /** Advances the time by one step, and waits for the requests that it started. */
  async function step(): Promise<void> {
    clock.advance(stepMs);
    for (let calm = 0; calm < 3; calm = busy === 0 ? calm + 1 : 0) await setImmediate();
  }

  async function advance(ms: number): Promise<void> {
    for (const endMs = clock.now() + ms; clock.now() < endMs; ) await step();
  }

  async function conditions(): Promise<Map<string, Judged>> {
    const found = new Map<string, Judged>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `limit=200${cursor && `&cursor=${cursor}`}`;
      const page: StatusPage = await service.manage('GET', `/v1/status?${query}`);
      for (const { screen, condition, reason } of page.items)
        found.set(screen.id, { condition, reason: reason?.code ?? null });
      cursor = page.nextCursor;
    }
    return found;
  }

  const { manage, code } = service;
  return { clock, send, advance, manage, code, conditions, close: () => store.close() };
}

/** A TV that can be broken. */
export class TownTv {
  readonly kind: Kind;
  readonly screenId: string;
  /** Whether its requests reach the service. */
  isConnected = true;
  /** Whether it gets no playlists, while all else works. */
  isWithoutPlaylists = false;
  /** Time that each of its requests takes. */
  delayMs = 0;
  /** Why its items fail, or why the first of them does. */
  failure: PlaybackFailure | undefined;
  failing: 'all' | 'one' = 'all';
  /** Whether its app calls the service, but hangs before the next item. */
  isFrozen = false;
  /** Time of the last change of power or network. */
  changedAtMs: number;
  readonly #town: Town;
  readonly #code: string;
  readonly #memory = ramMemory();
  #apiKey: string | undefined;
  #power: AbortController | undefined;
  #player: Player | undefined;

  private constructor(town: Town, kind: Kind, code: string, screenId: string) {
    this.#town = town;
    this.kind = kind;
    this.#code = code;
    this.screenId = screenId;
    this.changedAtMs = town.clock.now();
  }

  static async make(town: Town, kind: Kind, items: readonly object[]): Promise<TownTv> {
    const { code, screenId } = await town.code();
    await town.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
    return new TownTv(town, kind, code, screenId);
  }

  get isOn(): boolean {
    return this.#power !== undefined;
  }

  switchOn(): void {
    this.#power = new AbortController();
    this.changedAtMs = this.#town.clock.now();
    const { signal } = this.#power;
    void (reportMs[this.kind] || this.kind === 'mute'
      ? this.#runSimple(signal)
      : this.#runPlayer(signal));
  }

  cutPower(): void {
    this.#power?.abort();
    this.#power = undefined;
    this.changedAtMs = this.#town.clock.now();
  }

  /** Ends the app in an orderly way. */
  stop(): void {
    this.#player?.stop();
  }

  connect(isConnected: boolean): void {
    this.isConnected = isConnected;
    this.changedAtMs = this.#town.clock.now();
  }

  readonly #request: Requester = async (url, parts) => {
    if (this.delayMs > 0) await this.#pause(this.delayMs);
    const isLost = this.isWithoutPlaylists && url.endsWith('/playlist');
    if (!this.isConnected || isLost)
      throw Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' });
    const { answer, bytes } = await this.#town.send(url, parts);
    const body = (async function* () {
      yield bytes;
    })();
    return { statusCode: answer.status, headers: Object.fromEntries(answer.headers), body };
  };

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#town.clock.after(ms, resolve));
  }

  #client(apiKey?: string): RuntimeClient {
    const makeRequester = async () => this.#request;
    const { clock } = this.#town;
    return new RuntimeClient({ url: 'http://town', apiKey, makeRequester, clock });
  }

  #failureOf({ creativeId }: PlaylistItem, items: readonly PlaylistItem[]) {
    return this.failing === 'all' || creativeId === items[0]?.creativeId ? this.failure : undefined;
  }

  #runPlayer(signal: AbortSignal): Promise<unknown> {
    const { clock } = this.#town;
    const plain = timerStage(clock);
    const items = () => this.#player?.state.playlist?.items ?? [];
    const stage: Stage = {
      ...(this.kind === 'web' && {
        prepare: async (item: PlaylistItem) => this.#failureOf(item, items()),
      }),
      clear: () => {},
      show: async (item, forMs, ending, onVisible) => {
        if (this.isFrozen)
          await new Promise((resolve) => ending.addEventListener('abort', resolve));
        const failure = this.#failureOf(item, items());
        return failure ? { playedMs: 0, failure } : plain.show(item, forMs, ending, onVisible);
      },
    };
    this.#player = new Player({
      client: this.#client(),
      deviceInfo: { model: this.kind },
      memory: this.#memory,
      clock,
      stage,
      nextCode: async () => this.#code,
      ...(this.kind === 'tv' && { reportAfterSeconds: 20 }),
    });
    return this.#player.run(signal);
  }

  /** Runs an app that only fetches, plays in a row, and reports when it likes. */
  async #runSimple(signal: AbortSignal): Promise<void> {
    const { clock } = this.#town;
    const registration = { pairingCode: this.#code, deviceInfo: { model: this.kind } };
    this.#apiKey ??= (await this.#client().register(registration)).apiKey;
    const client = this.#client(this.#apiKey);
    const bootMs = this.kind === 'epoch' ? clock.now() : 0;
    const everyMs = reportMs[this.kind];
    const queue: EventInput[] = [];
    let playlist: { id: string; items: PlaylistItem[] } | undefined;
    let fetchAtMs = 0;
    let reportAtMs = clock.now() + (everyMs ?? 0);
    for (let index = 0; !signal.aborted; index++) {
      if (clock.now() >= fetchAtMs) {
        fetchAtMs = clock.now() + syncMs;
        const answer = await client.fetchPlaylist(this.screenId, { attempts: 1 }).catch(() => null);
        playlist = answer?.answer ?? playlist;
      }
      const item = playlist?.items[index % playlist.items.length];
      const failure = item && playlist && this.#failureOf(item, playlist.items);
      const isShown = item !== undefined && !this.isFrozen;
      await this.#pause(isShown && !failure ? item.duration * secondMs : 15 * secondMs);
      if (signal.aborted) return;
      if (isShown && playlist && everyMs !== undefined) {
        const timestamp = Math.floor((clock.now() - bootMs) / secondMs);
        const { creativeId, duration } = item;
        queue.push(
          failure
            ? { type: 'playback_error', timestamp, creativeId, reason: failure }
            : { type: 'play', timestamp, creativeId, playlistId: playlist.id, duration },
        );
      }
      if (everyMs === undefined || clock.now() < reportAtMs) continue;
      reportAtMs = clock.now() + everyMs;
      while (queue.length > 0) {
        const batch = queue.slice(0, maxBatch);
        const sent = await client
          .postEvents(this.screenId, batch, {
            attempts: 1,
            ...(this.kind === 'slow' && { deviceTime: clock.now() }),
          })
          .catch(() => 0);
        if (sent === 0) break;
        queue.splice(0, batch.length);
      }
    }
  }
}
