import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { CrashDisk } from '../../store/json/crash-disk.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import type { Fixture } from './scenario.ts';

/** One instance on a disk that loses power, or whose process is killed. */
export function onCrashingDisk(wrap: (store: Store) => Store = (store) => store): Fixture {
  let disk = new CrashDisk();
  return {
    open: async (clock) => wrap(await openStore('memory:', { disk, clock })),
    cut(random) {
      disk.failAt = disk.changes;
      disk = random.happens(0.3) ? disk.afterKill() : disk.afterPowerCut(random.one([0, 0.5, 1]));
    },
  };
}

/** Several instances on one database. */
export async function onDatabase(): Promise<Fixture> {
  const url = await freshDatabase();
  return { open: (clock) => openStore(url, { clock }) };
}
