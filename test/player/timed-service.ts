// A TV and a service in the same virtual time.

import type { EventInput } from '../../src/client/entities.ts';
import type { Requester } from '../../src/client/requester.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { secondMs, systemClock } from '../../src/domain/clock.ts';
import { Player } from '../../src/player/assembly/player.ts';
import type { PlayerOptions } from '../../src/player/options.ts';
import { makeVirtualClock, type VirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import { video } from '../support/tv/virtual-tv.ts';
import { memoryWith, playlistOf } from './saved-tv.ts';

const startMs = 1_790_000_000_000;
const config = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 60, cachePolicy: {} };

export interface Ask {
  atMs: number;
  after: string | null;
  waitSeconds: number;
}

export interface Reply {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

export const connectionError = () => Object.assign(new Error('cut'), { code: 'ECONNRESET' });
export const problem = (status: number, code: string, headers = {}): Reply => ({
  status,
  body: { code, status },
  headers,
});

/** A service in the time of the TV. `onAsk` answers the requests for changes. */
export class TimedService {
  readonly asks: Ask[] = [];
  /** Times of the fetches, in milliseconds since the start. */
  readonly fetches: { what: string; atMs: number }[] = [];
  version = 1;
  configTag = '"c1"';
  isWithdrawn = false;
  itemSeconds = 600;
  /** Further members of answers for changes, and the part of the cursor that tells of them. */
  signals: object = {};
  signalTag = '';
  onAsk: (ask: Ask, signal: AbortSignal) => Promise<Reply> = (ask, signal) =>
    this.hold(ask, signal);
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get nowMs(): number {
    return this.#clock.now() - startMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(connectionError());
      signal?.addEventListener('abort', abort);
      this.#clock.after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
    });
  }

  get cursor(): string {
    return `${this.version} ${this.configTag} ${this.isWithdrawn}${this.signalTag}`;
  }

  changes(): Reply {
    const playlist = this.isWithdrawn
      ? null
      : { version: this.version, etag: `"p${this.version}"` };
    return {
      status: 200,
      body: { cursor: this.cursor, playlist, config: { etag: this.configTag }, ...this.signals },
    };
  }

  /** Holds 90 % of the time, or until something changes. */
  async hold({ after, waitSeconds }: Ask, signal: AbortSignal): Promise<Reply> {
    const endMs = this.nowMs + waitSeconds * 900;
    while (after === this.cursor && this.nowMs < endMs) await this.sleep(100, signal);
    return this.changes();
  }

  /** Sends all requests of the TV here. */
  readonly requester: Requester = async (url, { signal, headers }) => {
    const { pathname, searchParams } = new URL(url);
    const reply = await this.#answer(pathname, searchParams, headers, signal);
    const date = new Date(this.#clock.now()).toUTCString();
    const bytes = Buffer.from(reply.body ? JSON.stringify(reply.body) : '');
    const body = (async function* () {
      yield bytes;
    })();
    return { statusCode: reply.status, headers: { date, ...reply.headers }, body };
  };

  async #answer(
    path: string,
    query: URLSearchParams,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Reply> {
    const what = path.split('/').at(-1) ?? '';
    if (what === 'changes') {
      const waitSeconds = Number(query.get('waitSeconds') ?? 0);
      const ask = { atMs: this.nowMs, after: query.get('after'), waitSeconds };
      this.asks.push(ask);
      return this.onAsk(ask, signal);
    }
    if (what === 'events') return { status: 202, body: { received: 1 } };
    this.fetches.push({ what, atMs: this.nowMs });
    if (what === 'config') return this.#ofTag(this.configTag, headers, config);
    if (this.isWithdrawn) return problem(404, 'playlist_not_found');
    const items = [video(this.version, this.itemSeconds)];
    const validUntil = startMs / 1000 + 100 * 86_400;
    const playlist = playlistOf(items, { version: this.version, validUntil });
    return this.#ofTag(`"p${this.version}"`, headers, playlist);
  }

  #ofTag(etag: string, headers: Record<string, string>, body: object): Reply {
    return headers['if-none-match'] === etag
      ? { status: 304, headers: { etag } }
      : { status: 200, body, headers: { etag } };
  }

  /** Times of the fetches of `what`, in seconds since the start. */
  fetchedAt(what: string): number[] {
    return this.fetches.filter((one) => one.what === what).map(({ atMs }) => atMs / 1000);
  }
}

/** Runs a TV for so long. `steps` change the service at a time, in seconds since the start. */
export async function runTv(
  forMs: number,
  prepare: (
    service: TimedService,
    at: (seconds: number, step: () => void) => void,
    player: Player,
  ) => void,
  {
    aheadMs = 0,
    observer = {},
    ...options
  }: Pick<PlayerOptions, 'maxWaitSeconds' | 'observer' | 'reloadId'> & {
    /** How far the clock of the TV is ahead of that of the service. */
    aheadMs?: number;
  } = {},
) {
  const clock = makeVirtualClock({ speed: Number.POSITIVE_INFINITY, startMs, wall: systemClock });
  // Without `hold` the clock goes on while requests are held.
  const tvClock = {
    now: () => clock.now() + aheadMs,
    after: (delayMs: number, wake: () => void) => clock.after(delayMs, wake),
  };
  const service = new TimedService(clock);
  const shown: string[] = [];
  const unpaired: string[] = [];
  const events: EventInput[] = [];
  const player = new Player({
    client: new RuntimeClient({
      url: 'http://service.test',
      clock: tvClock,
      makeRequester: async () => service.requester,
    }),
    ...options,
    deviceInfo: { model: 'TV' },
    clock: tvClock,
    memory: await memoryWith(),
    random: (length) => new Uint8Array(length).fill(0x80),
    observer: {
      onShow: (item) => shown.push(`${service.nowMs / 1000} ${item?.creativeUrl.at(-5) ?? '-'}`),
      onUnpaired: (why) => unpaired.push(`${service.nowMs / 1000} ${why}`),
      onEvent: (event) => events.push(event),
      ...observer,
      onAnswer: ({ operation }) => phases.push(`${operation} ${player.state.phase}`),
    },
  });
  const phases: string[] = [];
  prepare(service, (seconds, step) => void clock.after(seconds * secondMs, step), player);
  const end = await player.run(undefined, forMs);
  return { service, player, shown, unpaired, events, phases, end };
}

/** The shortest time between two requests for changes with the same cursor, in milliseconds. */
export const shortestPauseMs = ({ asks }: TimedService) =>
  Math.min(
    ...asks
      .slice(1)
      .map((ask, index) =>
        ask.after === asks[index]?.after ? ask.atMs - (asks[index]?.atMs ?? 0) : 1e9,
      ),
  );
