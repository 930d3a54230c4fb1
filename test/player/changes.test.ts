import { describe, expect, it } from 'vitest';
import type { Requester } from '../../src/client/requester.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { dayMs, hourMs, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { Player } from '../../src/player/player.ts';
import { makeVirtualClock, type VirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import { video } from '../support/tv/virtual-tv.ts';
import { memoryWith, playlistOf } from './saved-tv.ts';

const startMs = 1_790_000_000_000;
const config = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 60, cachePolicy: {} };

interface Ask {
  atMs: number;
  after: string | null;
  waitSeconds: number;
}

interface Reply {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

const connectionError = () => Object.assign(new Error('cut'), { code: 'ECONNRESET' });
const problem = (status: number, code: string, headers = {}): Reply => ({
  status,
  body: { code, status },
  headers,
});

/** A service in the time of the TV. `onAsk` answers the requests for changes. */
class TimedService {
  readonly asks: Ask[] = [];
  /** Times of the fetches, in milliseconds since the start. */
  readonly fetches: { what: string; atMs: number }[] = [];
  version = 1;
  configTag = '"c1"';
  isWithdrawn = false;
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
    return `${this.version} ${this.configTag} ${this.isWithdrawn}`;
  }

  changes(): Reply {
    const playlist = this.isWithdrawn
      ? null
      : { version: this.version, etag: `"p${this.version}"` };
    return {
      status: 200,
      body: { cursor: this.cursor, playlist, config: { etag: this.configTag } },
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
    const items = [video(this.version, 600)];
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
async function runTv(
  forMs: number,
  prepare: (service: TimedService, at: (seconds: number, step: () => void) => void) => void,
) {
  const clock = makeVirtualClock({ speed: Number.POSITIVE_INFINITY, startMs, wall: systemClock });
  // Without `hold` the clock goes on while requests are held.
  const tvClock = {
    now: () => clock.now(),
    after: (delayMs: number, wake: () => void) => clock.after(delayMs, wake),
  };
  const service = new TimedService(clock);
  const shown: string[] = [];
  const unpaired: string[] = [];
  const player = new Player({
    client: new RuntimeClient({
      url: 'http://service.test',
      clock: tvClock,
      makeRequester: async () => service.requester,
    }),
    deviceInfo: { model: 'TV' },
    clock: tvClock,
    memory: await memoryWith(),
    random: (length) => new Uint8Array(length).fill(0x80),
    observer: {
      onShow: (item) => shown.push(`${service.nowMs / 1000} ${item?.creativeUrl.at(-5) ?? '-'}`),
      onUnpaired: (why) => unpaired.push(`${service.nowMs / 1000} ${why}`),
      onAnswer: ({ operation }) => phases.push(`${operation} ${player.state.phase}`),
    },
  });
  const phases: string[] = [];
  prepare(service, (seconds, step) => void clock.after(seconds * secondMs, step));
  const end = await player.run(undefined, forMs);
  return { service, shown, unpaired, phases, end };
}

/** The shortest time between two requests for changes with the same cursor, in milliseconds. */
const shortestPauseMs = ({ asks }: TimedService) =>
  Math.min(
    ...asks
      .slice(1)
      .map((ask, index) =>
        ask.after === asks[index]?.after ? ask.atMs - (asks[index]?.atMs ?? 0) : 1e9,
      ),
  );

describe('A player that holds a request for changes', () => {
  it('shows a new version at once', async () => {
    const { service, shown } = await runTv(4 * minuteMs, (service, at) => {
      at(100, () => service.version++);
    });
    expect(shown).toEqual(['0 1', '100 2', '240 -']);
    expect(service.fetchedAt('playlist')).toEqual([0, 100]);
    expect(service.fetchedAt('config')).toEqual([0]);
  });

  it('fetches a new config at once', async () => {
    const { service } = await runTv(4 * minuteMs, (service, at) => {
      at(100, () => {
        service.configTag = '"c2"';
      });
    });
    expect(service.fetchedAt('config')).toEqual([0, 100]);
    expect(service.fetchedAt('playlist')).toEqual([0]);
  });

  it('shows nothing as soon as the playlist is withdrawn', async () => {
    const { shown } = await runTv(4 * minuteMs, (service, at) => {
      at(100, () => {
        service.isWithdrawn = true;
      });
    });
    expect(shown).toEqual(['0 1', '100 -']);
  });

  it('asks without a cursor first, then for 50 seconds with the cursor', async () => {
    const { service } = await runTv(2 * minuteMs, () => {});
    expect(service.asks.map(({ after, waitSeconds }) => [after, waitSeconds])).toEqual([
      [null, 0],
      [service.cursor, 50],
      [service.cursor, 50],
      [service.cursor, 50],
    ]);
  });

  it('goes on polling', async () => {
    const { service } = await runTv(21 * minuteMs, () => {});
    expect(service.fetchedAt('playlist').map((s) => Math.round(s / 60))).toEqual([
      0, 5, 10, 15, 20,
    ]);
  });

  it('pairs again when the held answer is that its key was revoked', async () => {
    const { unpaired, end } = await runTv(10 * minuteMs, (service, at) => {
      let isRevoked = false;
      at(100, () => {
        isRevoked = true;
        service.version++;
      });
      service.onAsk = async (ask, signal) => {
        const reply = await service.hold(ask, signal);
        return isRevoked ? problem(401, 'device_key_revoked') : reply;
      };
    });
    expect(unpaired).toEqual(['100 revoked']);
    expect(end.reason).toBe('unpaired');
  });

  it('ends the hold when it stops', async () => {
    let aborted = 0;
    const { end, service } = await runTv(30 * secondMs, (service) => {
      service.onAsk = (ask, signal) => {
        signal.addEventListener('abort', () => aborted++);
        return service.hold(ask, signal);
      };
    });
    expect({ end: end.reason, atMs: service.nowMs, aborted }).toEqual({
      end: 'stopped',
      atMs: 30_000,
      aborted: 1,
    });
  });

  it('asks at most once a second, however often the cursor changes', async () => {
    const { service } = await runTv(minuteMs, (service) => {
      service.onAsk = async (ask, signal) => {
        await service.sleep(10, signal);
        service.version++;
        return service.hold(ask, signal);
      };
    });
    expect(service.asks.length).toBeGreaterThan(30);
    expect(service.asks.length).toBeLessThan(65);
  });
});

describe('A player whose holds are hindered', () => {
  it('asks again after 24 hours if the service does not know the endpoint', async () => {
    for (const status of [404, 405, 501]) {
      const { service } = await runTv(dayMs + hourMs, (service) => {
        service.onAsk = async () => problem(status, 'not_found');
      });
      expect(service.asks.map(({ atMs }) => Math.round(atMs / hourMs))).toEqual([0, 24]);
      expect(service.fetchedAt('playlist').length).toBeGreaterThan(290);
    }
  });

  it('holds for 0.8 times the time after which a proxy cuts', async () => {
    const cutMs = 20 * secondMs;
    const { service, phases } = await runTv(10 * minuteMs, (service) => {
      service.onAsk = async (ask, signal) => {
        if (ask.waitSeconds * 900 < cutMs) return service.hold(ask, signal);
        await service.sleep(cutMs, signal);
        throw connectionError();
      };
    });
    const waits = service.asks.map(({ waitSeconds }) => waitSeconds);
    expect(waits.slice(0, 3)).toEqual([0, 50, 16]);
    expect(new Set(waits.slice(2))).toEqual(new Set([16]));
    expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
    // A hold that is cut off does not make the TV offline.
    expect(phases.filter((phase) => phase.endsWith('offline'))).toEqual([]);
  });

  it('goes on with holds shorter than 5 seconds behind a proxy that cuts after 6', async () => {
    const cutMs = 6 * secondMs;
    const { service, shown } = await runTv(10 * minuteMs, (service, at) => {
      service.onAsk = async (ask, signal) => {
        if (ask.waitSeconds * 900 < cutMs) return service.hold(ask, signal);
        await service.sleep(cutMs, signal);
        throw connectionError();
      };
      at(400, () => service.version++);
    });
    const waits = service.asks.map(({ waitSeconds }) => waitSeconds);
    expect(waits.slice(0, 3)).toEqual([0, 50, 4]);
    expect(new Set(waits.slice(2))).toEqual(new Set([4]));
    expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
    const pauses = service.asks.slice(1).map(({ atMs }, n) => atMs - (service.asks[n]?.atMs ?? 0));
    expect(Math.max(...pauses)).toBeLessThan(12 * secondMs);
    expect(Number(shown[1]?.split(' ')[0])).toBeLessThan(402);
  });

  it('tries the longest hold again after an hour', async () => {
    const { service } = await runTv(2 * hourMs, (service) => {
      service.onAsk = async (ask, signal) => {
        if (service.asks.length !== 2) return service.hold(ask, signal);
        await service.sleep(10 * secondMs, signal);
        throw connectionError();
      };
    });
    const waits = service.asks.map(({ atMs, waitSeconds }) => [
      Math.floor(atMs / hourMs),
      waitSeconds,
    ]);
    expect(waits.slice(0, 3)).toEqual([
      [0, 0],
      [0, 50],
      [0, 8],
    ]);
    expect(waits.at(-1)).toEqual([1, 50]);
  });

  it.each([
    ['cut off at once', () => Promise.reject(connectionError())],
    ['answered by a cache', undefined],
    ['ended by a gateway', () => Promise.resolve({ status: 504 })],
  ])('pauses for one sync interval after three holds that are %s', async (_, answer) => {
    const { service } = await runTv(20 * minuteMs, (service) => {
      service.onAsk = async (ask) => (ask.after === null || !answer ? service.changes() : answer());
    });
    expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
    // Three requests in each sync interval of 5 minutes.
    expect(service.asks.length).toBeLessThan(16);
    const minutes = service.asks.map(({ atMs }) => Math.floor(atMs / minuteMs));
    expect(minutes.filter((minute) => minute > 0 && minute < 5)).toEqual([]);
    expect(service.fetchedAt('playlist')).toHaveLength(4);
  });

  it('waits for Retry-After after a 503', async () => {
    const { service } = await runTv(5 * minuteMs, (service) => {
      service.onAsk = async () => problem(503, 'unavailable', { 'retry-after': '60' });
    });
    const [first, second] = service.asks.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(60 * secondMs);
    expect(service.asks.length).toBeLessThan(6);
  });

  it('misses nothing while it pauses', async () => {
    const { shown } = await runTv(10 * minuteMs, (service, at) => {
      service.onAsk = () => Promise.reject(connectionError());
      at(100, () => service.version++);
    });
    expect(shown).toEqual(['0 1', '300.1 2', '600 -']);
  });
});
