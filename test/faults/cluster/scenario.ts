import { setTimeout as sleep } from 'node:timers/promises';
import { type Balancer, startBalancer } from '../../support/network/balancer.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { checkAcknowledged, sendLostAgain } from '../kills/checker.ts';
import { type KilledService, startService } from '../kills/killed-service.ts';
import type { Workers } from '../kills/load.ts';
import { type ClusterLoad, isDocumented, isGood, startLoad } from './load.ts';

const token = `mak_${'ClusterFaults'.repeat(2)}`;
/** Number of successful calls in a row after which a cluster counts as recovered. */
const goodRun = 40;

/** Two instances in processes of their own on one database, behind a load balancer. */
export class Cluster {
  readonly #folder: string;
  readonly #stores: readonly string[];
  readonly #urls: string[] = [];
  readonly #instances: KilledService[] = [];
  readonly #balancer: Balancer;
  readonly cut: () => void;

  private constructor(
    folder: string,
    stores: readonly string[],
    started: readonly KilledService[],
    balancer: Balancer,
    cut: () => void,
  ) {
    this.#folder = folder;
    this.#stores = stores;
    this.#instances.push(...started);
    this.#urls.push(...started.map(({ url }) => url));
    this.#balancer = balancer;
    this.cut = cut;
  }

  /** The second instance uses a proxy to the database. `cut` cuts its connections. */
  static async start(folder: string, database: string): Promise<Cluster> {
    const proxy = await databaseProxy(database);
    const stores = [database, proxy.url];
    const started = await Promise.all(
      stores.map((store) => startService(folder, token, { store })),
    );
    const balancer = await startBalancer(started.map(({ url }) => url));
    return new Cluster(folder, stores, started, balancer, proxy.cut);
  }

  /** Runs workers that create screens, pair, report, edit, rotate keys and revoke. */
  load(workers: Workers): Promise<ClusterLoad> {
    return startLoad(this.#balancer.url, token, workers);
  }

  async kill(place: number): Promise<void> {
    await this.#at(place).kill();
  }

  /** Stops an instance. Throws if its exit code is not 0. */
  async stop(place: number): Promise<void> {
    const code = await this.#at(place).stop();
    if (code !== 0) throw new Error(`The instance ${place} ended with ${code}.`);
  }

  /** Starts an instance again at the same address. */
  async start(place: number): Promise<void> {
    const port = Number(new URL(this.#urls[place] as string).port);
    this.#instances[place] = await startService(this.#folder, token, {
      store: this.#stores[place] as string,
      port,
    });
  }

  /**
   * Waits until every component of both instances works, as a rolling restart does. After an outage
   * of the database, the circuit breaker of the playlists may stay open for up to 2 s.
   */
  async healthy(): Promise<void> {
    for (const url of this.#urls) {
      const isWell = async () => {
        const text = await fetch(`${url}/readyz?verbose`).then((response) => response.text());
        const lines = text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        return lines.every(({ status }) => status === 'ok');
      };
      for (let tries = 0; !(await isWell()); tries++) {
        if (tries === 200) throw new Error(`${url} does not get well.`);
        await sleep(50);
      }
    }
  }

  /** Returns acknowledged data that is missing. */
  async missing(load: ClusterLoad): Promise<string[]> {
    const asked = { url: this.#balancer.url, token };
    await sendLostAgain(asked, load.seen);
    return checkAcknowledged(asked, load.seen);
  }

  async close(): Promise<void> {
    await this.#balancer.close();
    await Promise.all(this.#instances.map((_, place) => this.stop(place)));
  }

  #at(place: number): KilledService {
    return this.#instances[place] as KilledService;
  }
}

/** Terminates all connections of the service in the database. */
export async function terminateBackends(database: string): Promise<void> {
  await inDatabase(database, (sql) =>
    sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'signage'`),
  );
}

export interface FaultReport {
  fault: string;
  /** Time from the end of the fault to the last attempt without a regular answer. */
  troubledMs: number;
  /** Attempts without a regular answer, by outcome. */
  troubles: Record<string, number>;
  /** Undocumented answers. */
  undocumented: string[];
}

async function untilWell(load: ClusterLoad, from: number): Promise<void> {
  for (let waited = 0; waited < 600; waited++) {
    const latest = load.tries.slice(from).slice(-goodRun);
    if (latest.length === goodRun && latest.every(isGood)) return;
    await sleep(25);
  }
  throw new Error('The cluster does not get well.');
}

/** Injects one fault under load and waits for recovery. */
export async function injectFaults(
  load: ClusterLoad,
  fault: string,
  happen: () => Promise<void>,
): Promise<FaultReport> {
  await untilWell(load, load.tries.length);
  const from = load.tries.length;
  await happen();
  const over = performance.now();
  await untilWell(load, load.tries.length);
  const bad = load.tries.slice(from).filter((one) => !isGood(one));
  const troubles: Record<string, number> = {};
  for (const { outcome } of bad) troubles[outcome] = (troubles[outcome] ?? 0) + 1;
  const undocumented = bad
    .filter((one) => !isDocumented(one))
    .map(({ what, outcome }) => `${outcome} ${what}`);
  const last = bad.at(-1)?.at ?? over;
  return { fault, troubledMs: Math.max(0, Math.round(last - over)), troubles, undocumented };
}
