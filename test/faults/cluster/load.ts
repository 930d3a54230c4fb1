import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { type Place, startWorkers, type Workers } from '../kills/load.ts';
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
export async function startLoad(
  url: string,
  token: string,
  workers: Workers,
): Promise<ClusterLoad> {
  const body = { name: randomUUID() };
  const { id } = await new ManagementClient({ url, token }).call('createVenue', { body });
  let isOver = false;
  const load: ClusterLoad = {
    ...{ seen: nothingYet(), tries: [], failed: [] },
    async stop() {
      isOver = true;
      await Promise.all(working);
    },
  };
  const onExchange: Place['onExchange'] = ({ method, path, outcome }) => {
    const what = `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, ':id')}`;
    load.tries.push({ at: performance.now(), what, outcome });
  };
  const place = { url, token, venueId: id, seen: load.seen, retry, onExchange };
  const isDone = () => isOver;
  const failed = (error: unknown) => void load.failed.push(String(error));
  const working = [
    ...startWorkers(place, workers, isDone, failed),
    probe(load, url, token, isDone),
  ];
  return load;
}
