import fc from 'fast-check';
import { describe, it } from 'vitest';
import { makeMemoryFileSystem } from '../../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import {
  memoryObjectStore,
  type ObjectStoreFault,
} from '../../support/stores/memory-object-store.ts';
import {
  expectEqual,
  insertScreens,
  instance,
  principal,
  publication,
  settled,
} from './mirror-rig.ts';

/** Changes of a screen on an instance, and events of instances and the clock. */
type Change = { do: 'publish' | 'withdraw' | 'delete' | 'roll back'; screen: number; by: number };
type Action = Change | { do: 'stop' | 'kill' | 'pause' };

const screenCount = 4;
const ofScreen = (...what: ('publish' | 'withdraw' | 'delete' | 'roll back')[]) =>
  fc.record({
    do: fc.constantFrom(...what),
    screen: fc.nat({ max: screenCount - 1 }),
    by: fc.nat({ max: 1 }),
  });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: ofScreen('publish') },
  { weight: 4, arbitrary: ofScreen('withdraw', 'roll back') },
  { weight: 1, arbitrary: ofScreen('delete') },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('stop' as const, 'kill' as const, 'pause' as const, 'pause' as const),
    }),
  },
);
const faults = fc.infiniteStream(
  fc.constantFrom<ObjectStoreFault>('no', 'no', 'no', 'before', 'after', 'hang'),
);

/**
 * Two instances on one store and one object store, as with PostgreSQL. With the embedded store they
 * share a process.
 */
async function run(
  actions: readonly Action[],
  injectedFaults: Iterator<ObjectStoreFault>,
  supportsConditions: boolean,
): Promise<void> {
  const clock = new ManualClock();
  const disk = makeMemoryFileSystem();
  const store = await openStore('memory:', { clock: new ManualClock(), disk });
  const screens = await insertScreens(store, screenCount);
  const objects = Object.assign(memoryObjectStore(), { supportsConditions });
  const dead = new Set<object>();
  /** Each has its own connection to the object store, which is cut when it is killed. */
  const start = () => {
    const cut =
      <A extends unknown[], T>(call: (...given: A) => Promise<T>) =>
      (...given: A): Promise<T> =>
        dead.has(line) ? new Promise(() => {}) : call(...given);
    const { get, put, list, delete: remove } = objects;
    const line = { ...objects, get: cut(get), put: cut(put), list: cut(list), delete: cut(remove) };
    return { ...instance({ store, objects: line, clock }), line };
  };
  let instances = [start(), start()];
  let under = true;
  objects.fault = () => (under ? (injectedFaults.next().value as ObjectStoreFault) : 'no');
  const deletedScreens = new Set<string>();

  async function change({ do: what, screen: number, by }: Change): Promise<void> {
    const screen = screens[number]!;
    const { playlists, screens: kept } = instances[by]!;
    if (deletedScreens.has(screen.id)) return;
    if (what === 'publish') await playlists.publish(principal, screen.id, publication());
    if (what === 'withdraw') await playlists.withdraw(principal, screen.id);
    if (what === 'roll back') {
      const last = (await playlists.versions(principal, screen.id, { limit: 20 })).items.at(-1);
      if (last)
        await playlists.publish(principal, screen.id, { items: last.items, validUntil: null });
    }
    if (what !== 'delete') return;
    deletedScreens.add(screen.id);
    await kept.remove(principal, screen.id, true);
  }

  /** Stops the first instance and starts another. */
  function replace(how: 'stop' | 'kill'): void {
    const [first, ...rest] = instances;
    if (how === 'kill') dead.add(first!.line);
    else first!.mirror.stop();
    instances = [...rest, start()];
  }

  async function take(one: Action): Promise<void> {
    if ('screen' in one) await change(one);
    else if (one.do === 'pause') clock.advance(2500);
    else replace(one.do);
  }

  for (const one of actions) {
    await take(one);
    await turns(3);
  }
  under = false;
  // The check of a start may have failed, and an instance may have to take over from a killed one.
  clock.advance(60_000);
  await turns(60);
  clock.advance(31_000);
  await settled(clock, ...instances.map(({ mirror }) => mirror));
  await expectEqual(store, objects, clock, screens);
  for (const { mirror } of instances) await mirror.stop();
  await store.close();
}

describe('the mirror', () => {
  it.each([true, false])(
    'matches the store eventually, with any failures (conditional writes: %s)',
    async (supportsConditions) => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 25 }), faults, (actions, injectedFaults) =>
          run(actions, injectedFaults, supportsConditions),
        ),
        { numRuns: 60 },
      );
    },
  );
});
