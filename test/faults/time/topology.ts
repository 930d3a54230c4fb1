import { vi } from 'vitest';
import { type Clock, minuteMs, systemClock } from '../../../src/domain/clock.ts';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { emptyDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import type { FuzzRandom } from '../fuzz/random.ts';

/** The instances of a service, and their clocks. */
export interface Topology {
  /** Number of instances. */
  size: number;
  /** Returns an instance for one call. */
  service(place: number): TestService<Clock>;
  /** The time that decides, in milliseconds. */
  now(): number;
  /** How far `now` may be from the time of an instance, in milliseconds. */
  toleranceMs: number;
  /** Lets time pass, everywhere. */
  pass(ms: number): Promise<void>;
  /** Moves a clock that may be wrong. */
  jump(ms: number, random: FuzzRandom): Promise<void>;
  close(): Promise<void>;
}

/** Shorter than the jumps of years, which must make nothing old enough. */
const retentionDays = 90;

/** One instance on files, which follows the clock of its machine wherever it jumps. */
export async function oneOnFiles(store: string): Promise<Topology> {
  const clock = new ManualClock();
  const service = await startService({ store, retentionDays, clock });
  return {
    size: 1,
    service: () => service,
    now: () => clock.now(),
    toleranceMs: 0,
    pass: async (ms) => clock.advance(ms),
    jump: async (ms) => clock.set(clock.now() + ms),
    close: () => service.close(),
  };
}

/** Returns members that replace those of the store of an instance. */
export type StoreDefect = (store: Store) => Partial<Store>;

/**
 * Two instances on one database, which is emptied. The clock of the database only runs forward. The
 * machine of the first instance has the same time. The machine of the other is 20 minutes slow at
 * first, and then jumps.
 */
export async function twoOnDatabase(
  store: string,
  defect: StoreDefect = () => ({}),
): Promise<Topology> {
  const realNow = Date.now;
  let passedMs = 0;
  const skewsMs: [number, number] = [0, -20 * minuteMs];
  // Requests are sent one at a time, so one mock is enough for two machines.
  let skewMs = 0;
  const mocked = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + passedMs + skewMs);

  const setDatabaseClock = () =>
    inDatabase(store, (sql) =>
      sql(`CREATE OR REPLACE FUNCTION signage.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${passedMs}'`),
    );
  await setDatabaseClock();
  await emptyDatabase(store);

  const stores: Store[] = [];
  const start = (place: number) =>
    startService<Clock>({ store, retentionDays, clock: systemClock }, (options = {}) =>
      serveOn(async (location, more) => {
        const opened = await openStore(location, more);
        stores[place] = opened;
        return decorateStore(opened, defect(opened));
      }, options),
    );
  const services = [await start(0), await start(1)] as const;

  const pass = async (ms: number) => {
    passedMs += ms;
    await setDatabaseClock();
    // An instance reads the time of the database every 5 s, and for each change.
    await Promise.all(stores.map((one) => one.write(async () => {})));
  };

  return {
    size: services.length,
    service(place) {
      skewMs = skewsMs[place] as number;
      return services[place] as TestService<Clock>;
    },
    now: () => realNow() + passedMs,
    toleranceMs: 1000,
    pass,
    async jump(ms, random) {
      if (ms > 0 && random.happens(0.5)) await pass(ms);
      else skewsMs[1] += ms;
    },
    async close() {
      await Promise.all(services.map((service) => service.close()));
      mocked.mockRestore();
    },
  };
}
