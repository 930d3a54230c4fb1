import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { SignageError } from '../../../src/domain/error.ts';
import { impressions, post } from '../kills/load.ts';
import { type Acknowledged, nothingYet } from '../kills/model.ts';

/** One attempt of a call. */
export interface Tried {
  /** Milliseconds since the start of the process. */
  at: number;
  what: string;
  /** A status, or `unreachable`. */
  outcome: string;
}

/** Observations of a load. */
export interface ClusterLoad {
  seen: Acknowledged;
  tries: Tried[];
  /** Calls that failed although the client retried them as told. */
  failed: string[];
  /** Ends the load and waits for its workers. */
  stop(): Promise<void>;
}

const probeEveryMs = 50;

/** Retries for half a minute, longer than any fault. */
const retry = { attempts: 12, firstDelayMs: 100, longestDelayMs: 6000 };

/**
 * Without the store, playlist and config answer 500 (docs/protocol.md §2.3, §2.4), all else 503.
 */
export function isDocumented({ what, outcome }: Tried): boolean {
  if (!/^5/.test(outcome)) return true;
  return outcome === '503' || (outcome === '500' && /^GET .*(playlist|config)$/.test(what));
}

export const isGood = ({ outcome }: Tried) => /^(2|304|404|409)/.test(outcome);

class Worker {
  readonly #load: ClusterLoad;
  readonly #management: ManagementClient;
  readonly #anyone: RuntimeClient;
  readonly #venueId: string;

  constructor(load: ClusterLoad, url: string, token: string, venueId: string) {
    const onExchange = ({
      method,
      path,
      outcome,
    }: {
      method: string;
      path: string;
      outcome: string;
    }) => {
      load.tries.push({
        at: performance.now(),
        what: `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, ':id')}`,
        outcome,
      });
    };
    this.#load = load;
    this.#venueId = venueId;
    this.#management = new ManagementClient({ url, token, retry, onExchange });
    this.#anyone = new RuntimeClient({ url, retry, onExchange });
  }

  /** One TV: creates its screen, pairs, posts batches, fetches, and is sometimes revoked. */
  async live(): Promise<void> {
    const { seen } = this.#load;
    const screenId = await this.#screen();
    seen.screens.add(screenId);
    const { code } = await this.#again(() =>
      this.#management.call('createCode', { body: { screenId } }),
    );
    const { deviceId, apiKey } = await this.#anyone.register({
      pairingCode: code,
      deviceInfo: { model: 'cluster test' },
    });
    seen.keys.set(deviceId, apiKey);
    const tv = this.#anyone.withKey(apiKey);
    for (let turn = 0; turn < 4; turn++) {
      await post(tv, { deviceId, apiKey }, impressions(1 + turn * 3), this.#load.seen);
      await tv.fetchConfig(screenId);
      await tv.fetchPlaylist(screenId).catch((error: unknown) => {
        if (!(error instanceof SignageError && error.code === 'playlist_not_found')) throw error;
      });
    }
    if (Math.random() < 0.7) return;
    seen.keys.delete(deviceId);
    await this.#again(() => this.#management.call('revokeDevice', { params: { id: deviceId } }));
    seen.revoked.set(deviceId, apiKey);
  }

  /** Retries after a lost answer like a person: if the name is taken, the screen exists. */
  async #screen(): Promise<string> {
    const body = { venueId: this.#venueId, name: randomUUID() };
    return this.#again(async () => {
      try {
        return (await this.#management.call('createScreen', { body })).id;
      } catch (error) {
        if (error instanceof SignageError && error.existingId) return error.existingId;
        throw error;
      }
    });
  }

  async #again<T>(call: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await call();
      } catch (error) {
        const isPassing =
          error instanceof SignageError && ['unreachable', 'unavailable'].includes(error.code);
        if (!isPassing || tries === retry.attempts) throw error;
        await sleep(retry.firstDelayMs * tries);
      }
    }
  }
}

/** Sends requests without waiting for `Retry-After`, to detect recovery at once. */
async function probe(
  load: ClusterLoad,
  url: string,
  token: string,
  isOver: () => boolean,
): Promise<void> {
  const onExchange = ({ outcome }: { outcome: string }) =>
    void load.tries.push({ at: performance.now(), what: 'GET /v1/me', outcome });
  const management = new ManagementClient({ url, token, retry: { attempts: 1 }, onExchange });
  while (!isOver()) {
    await management.call('getMe').catch(() => {});
    await sleep(probeEveryMs);
  }
}

/** Runs several TVs concurrently, each one after another, until stopped. */
export async function startLoad(url: string, token: string, workers: number): Promise<ClusterLoad> {
  const venue = await new ManagementClient({ url, token }).call('createVenue', {
    body: { name: randomUUID() },
  });
  let isOver = false;
  const load: ClusterLoad = {
    ...{ seen: nothingYet(), tries: [], failed: [] },
    async stop() {
      isOver = true;
      await Promise.all(working);
    },
  };
  const live = async () => {
    while (!isOver) {
      await new Worker(load, url, token, venue.id).live().catch((error: unknown) => {
        load.failed.push(
          error instanceof SignageError ? `${error.code}: ${error.message}` : String(error),
        );
      });
    }
  };
  const working = [...Array.from({ length: workers }, live), probe(load, url, token, () => isOver)];
  return load;
}
