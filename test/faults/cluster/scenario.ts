import { setTimeout as sleep } from 'node:timers/promises';
import { type Balancer, startBalancer } from '../../support/balancer.ts';
import { databaseProxy } from '../../support/database-proxy.ts';
import { inDatabase } from '../../support/in-database.ts';
import { checkAcknowledged, sendLostAgain } from '../kills/checker.ts';
import { type KilledService, startService } from '../kills/killed-service.ts';
import { type FleetLoad, startFleetLoad } from './fleet.ts';
import { type ClusterLoad, isDocumented, isGood, startLoad } from './load.ts';

const token = `mak_${'ClusterFaults'.repeat(2)}`;
/** Calls that must succeed in a row for a cluster to count as well. */
const goodRun = 40;

/** Two instances in processes of their own on one database, and what spreads the requests. */
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

  /** The second instance reaches the database by way of a proxy, whose connections `cut` cuts. */
  static async start(folder: string, database: string): Promise<Cluster> {
    const proxy = await databaseProxy(database);
    const stores = [database, proxy.url];
    const started = await Promise.all(
      stores.map((store) => startService(folder, token, { store })),
    );
    const balancer = await startBalancer(started.map(({ url }) => url));
    return new Cluster(folder, stores, started, balancer, proxy.cut);
  }

  /**
   * A fleet of TVs that play, and `workers` who make screens, pair and revoke beside them; all that
   * they try is in one list.
   */
  async load(tvs: number, workers: number): Promise<{ load: ClusterLoad; fleet: FleetLoad }> {
    const load = await startLoad(this.#balancer.url, token, workers);
    const fleet = startFleetLoad({ url: this.#balancer.url, token }, tvs, load.tries);
    await fleet.playing;
    return { load, fleet };
  }

  async kill(place: number): Promise<void> {
    await this.#at(place).kill();
  }

  /** In good order; throws when it ends with another code than 0. */
  async stop(place: number): Promise<void> {
    const code = await this.#at(place).stop();
    if (code !== 0) throw new Error(`The instance ${place} ended with ${code}.`);
  }

  /** Starts it again, at the same address. */
  async start(place: number): Promise<void> {
    const port = Number(new URL(this.#urls[place] as string).port);
    this.#instances[place] = await startService(this.#folder, token, {
      store: this.#stores[place] as string,
      port,
    });
  }

  /** What was acknowledged and is not there. */
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

/** Ends every connection of the service, from inside the database. */
export async function terminateBackends(database: string): Promise<void> {
  await inDatabase(database, (sql) =>
    sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'signage'`),
  );
}

export interface FaultReport {
  fault: string;
  /** From the end of the fault to the last try that was not answered as usual. */
  troubledMs: number;
  /** Tries that were not answered as usual, by outcome. */
  troubles: Record<string, number>;
  /** Answers that the interface does not have. */
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

/** Lets one fault happen under load, and waits until all is well again. */
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
