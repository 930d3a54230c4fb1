import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  caller,
  expectEqual,
  insertScreens,
  instance,
  publication,
} from '../../service/mirror-rig.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryObjectStore } from '../../support/memory-object-store.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres.ts';

let url: string;
let stores: Store[];
beforeAll(async () => {
  url = await freshDatabase();
});
beforeEach(async () => {
  await emptyDatabase(url);
  stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

describe('three instances on one database and one object store', () => {
  it.each([true, false])(
    'mirror the newest versions in the end (conditional writes: %s)',
    async (supportsConditions) => {
      const clock = new ManualClock();
      const objects = Object.assign(memoryObjectStore(), { supportsConditions });
      const screens = await insertScreens(stores[0]!, 6);
      const target = () => stores[0]!.read.get('mirrorTargets', 'current');
      const first = instance({ store: stores[0]!, objects, clock });
      // The other instances then skip the check whether the object store is new, and queue nothing
      // themselves.
      await expect.poll(target, { interval: 5 }).toBeDefined();
      const instances = [
        first,
        ...stores.slice(1).map((store) => instance({ store, objects, clock })),
      ];
      const change = async (place: number) => {
        const { playlists } = instances[place % 3]!;
        const { id } = screens[place % screens.length]!;
        await (place % 7 === 6
          ? playlists.withdraw(caller, id)
          : playlists.publish(caller, id, publication()));
      };
      await Promise.all(Array.from({ length: 90 }, (_, place) => change(place)));
      const outbox = async () => (await stores[0]!.list('mirrorPending', { limit: 1 })).items;
      const waiting = () => instances.map(({ mirror }) => mirror.lag().pending);
      const left = async () => {
        // Retries records that changed faster than they could be mirrored.
        clock.advance(1000);
        return [...(await outbox()), ...waiting()];
      };
      await expect.poll(left, { interval: 5 }).toEqual([0, 0, 0]);
      await expectEqual(stores[0]!, objects, clock, screens);
      for (const { mirror } of instances) await mirror.stop();
    },
  );
});
