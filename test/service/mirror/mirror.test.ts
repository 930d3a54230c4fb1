import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LogSink, silentLog } from '../../../src/domain/log.ts';
import type { Screen } from '../../../src/domain/records/rows.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { makeMemoryFileSystem } from '../../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../../src/testing/store-suite/store-test.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import { playlistRow, putPlaylist } from '../../support/service/playlist-rows.ts';
import {
  type MemoryObjectStore,
  memoryObjectStore,
} from '../../support/stores/memory-object-store.ts';
import {
  expectEqual,
  insertScreens,
  instance,
  principal,
  publication,
  settled,
  tenantId,
} from './mirror-rig.ts';

let clock: ManualClock;
let disk: ReturnType<typeof makeMemoryFileSystem>;
let store: Store;
let objects: MemoryObjectStore;
let screens: Screen[];
let screen: Screen;
const started: ReturnType<typeof instance>[] = [];

const open = () => openStore('memory:', { clock: new ManualClock(), disk });
const keyOf = ({ id }: Screen) => `${tenantId}/playlists/${id}.json`;
const copyOf = (one: Screen) => JSON.parse(objects.objects.get(keyOf(one)) ?? 'null');
const putsOf = (one: Screen) => objects.calls.filter((call) => call === `put ${keyOf(one)}`).length;

function start(more: { log?: LogSink; objects?: MemoryObjectStore; store?: Store } = {}) {
  const one = instance({ store, objects, clock, ...more });
  started.push(one);
  return one;
}

/** Lets at most this many seconds pass, one after another. */
async function passSeconds(most: number, isEnough: () => boolean, turnsEach?: number) {
  for (let second = 0; second < most && !isEnough(); second++) {
    clock.advance(1000);
    await turns(turnsEach);
  }
}

/** Publishes a new version, and waits until it is mirrored. */
async function mirrorNew(
  playlists: ReturnType<typeof instance>['playlists'],
  mirror: ReturnType<typeof instance>['mirror'],
): Promise<void> {
  await playlists.publish(principal, screen.id, publication());
  await settled(clock, mirror);
}

beforeEach(async () => {
  clock = new ManualClock();
  disk = makeMemoryFileSystem();
  store = await open();
  objects = memoryObjectStore();
  screens = await insertScreens(store, 30);
  screen = screens[0]!;
});

afterEach(async () => {
  let isOver = false;
  const over = Promise.all(started.splice(0).map(({ mirror }) => mirror.stop())).then(() => {
    isOver = true;
  });
  // Some calls never get an answer.
  await passSeconds(60, () => isOver);
  await over;
  await store.close();
});

describe('the mirror', () => {
  it('copies every change of a playlist', async () => {
    const { playlists, screens: kept, mirror } = start();
    await mirrorNew(playlists, mirror);
    expect(copyOf(screen)).toMatchObject({
      version: 1,
      state: 'active',
      screenId: screen.id,
      tenantId,
    });
    await mirrorNew(playlists, mirror);
    expect(copyOf(screen)).toMatchObject({ version: 2, state: 'active' });
    await playlists.withdraw(principal, screen.id);
    await settled(clock, mirror);
    expect(copyOf(screen)).toEqual(expect.not.objectContaining({ items: expect.anything() }));
    expect(copyOf(screen)).toMatchObject({ version: 2, state: 'withdrawn' });
    await mirrorNew(playlists, mirror);
    expect(copyOf(screen)).toMatchObject({ version: 3, state: 'active' });
    await kept.remove(principal, screen.id, true);
    await settled(clock, mirror);
    expect([...objects.objects]).toEqual([]);
  });

  it('writes nothing while nothing changes', async () => {
    const { playlists, mirror } = start();
    const same = publication();
    await playlists.publish(principal, screen.id, same);
    await settled(clock, mirror);
    const before = objects.calls.length;
    await playlists.publish(principal, screen.id, same);
    await playlists.withdraw(principal, screens[1]!.id);
    await settled(clock, mirror);
    expect(objects.calls.length).toBe(before);
  });

  it('does not delay a publish', async () => {
    const { playlists, mirror } = start();
    await settled(clock, mirror);
    objects.fault = () => 'hang';
    expect(await playlists.publish(principal, screen.id, publication())).toMatchObject({
      playlist: { version: 1 },
    });
    expect(mirror.lag()).toEqual({
      pending: 1,
      oldestMs: expect.any(Number),
      failures: 0,
      isFailing: false,
    });
  });

  it('writes only the newest version after an outage', async () => {
    const { playlists, mirror } = start();
    await settled(clock, mirror);
    objects.fault = () => 'before';
    for (let time = 0; time < 5; time++)
      await playlists.publish(principal, screen.id, publication());
    await turns();
    expect([...mirror.queuedAt().keys()]).toEqual([screen.id]);
    objects.fault = () => 'no';
    await settled(clock, mirror);
    expect(copyOf(screen)).toMatchObject({ version: 5 });
    expect(putsOf(screen)).toBe(1);
  });

  it('writes to the store nothing but what its callers write', async () => {
    let writes = 0;
    const counting = decorateStore(store, {
      write: (change) => {
        writes++;
        return store.write(change);
      },
    });
    const { playlists, mirror } = start({ store: counting });
    await mirrorNew(playlists, mirror);
    expect(copyOf(screen)).toMatchObject({ version: 1 });
    expect(writes).toBe(1);
  });

  it('starts no more work once stopped, and finishes work in flight', async () => {
    const { playlists, mirror } = start();
    const { open, opened } = gate();
    const { put } = objects;
    objects.put = async (...given) => {
      await opened;
      return put(...given);
    };
    for (const one of screens.slice(0, 20))
      await playlists.publish(principal, one.id, publication());
    await turns();
    let isStopped = false;
    const stopped = mirror.stop().then(() => {
      isStopped = true;
    });
    await turns();
    expect(isStopped).toBe(false);
    open();
    await stopped;
    expect(objects.objects.size).toBe(8);
    expect(mirror.lag().pending).toBe(12);
  });

  it('makes a few copies concurrently, and those of one screen in sequence', async () => {
    const { playlists, mirror } = start();
    const inFlight = new Set<string>();
    const { put } = objects;
    objects.put = async (key, ...rest) => {
      expect(inFlight.has(key)).toBe(false);
      inFlight.add(key);
      return put(key, ...rest).finally(() => inFlight.delete(key));
    };
    await Promise.all(
      screens.flatMap(({ id }) =>
        [1, 2, 3].map(() => playlists.publish(principal, id, publication())),
      ),
    );
    await settled(clock, mirror);
    expect(objects.mostAtOnce).toBe(8);
    await expectEqual(store, objects, clock, screens);
  });
});

describe('the mirror under concurrent changes', () => {
  /** Delays the first call of this kind until it is released. */
  function hold(target: MemoryObjectStore, what: 'get' | 'put') {
    const { open: release, opened: released } = gate();
    const own = target[what] as (...given: unknown[]) => Promise<never>;
    let isFirst = true;
    target[what] = (async (...given: unknown[]) => {
      const mine = isFirst;
      isFirst = false;
      const done = what === 'get' ? await own(...given) : undefined;
      if (mine) await released;
      return what === 'get' ? done : own(...given);
    }) as never;
    return release;
  }

  it.each([true, false])(
    'writes no older version over a newer one of another instance (conditional writes: %s)',
    async (supportsConditions) => {
      objects.supportsConditions = supportsConditions;
      const versions: number[] = [];
      const { put } = objects;
      objects.put = async (key, ...rest) => {
        const done = await put(key, ...rest);
        versions.push(JSON.parse(objects.objects.get(key) ?? '{}').version);
        return done;
      };
      const slow = { ...objects };
      const release = hold(slow, 'put');
      const one = start({ objects: slow });
      const other = start();
      await one.playlists.publish(principal, screen.id, publication());
      await turns();
      // The first instance has decided to write version 1, and is delayed.
      await other.playlists.publish(principal, screen.id, publication());
      await settled(clock, other.mirror);
      expect(copyOf(screen)).toMatchObject({ version: 2 });
      release();
      await settled(clock, one.mirror, other.mirror);
      expect(copyOf(screen)).toMatchObject({ version: 2 });
      // Without conditional writes, the newer version returns as soon as the older one was written.
      if (supportsConditions) expect(versions).toEqual(versions.toSorted());
    },
  );

  it('trusts the store, not its earlier read of the copy', async () => {
    const tried: number[] = [];
    const { put } = objects;
    objects.put = (key, bytes, ...rest) => {
      tried.push(JSON.parse(Buffer.from(bytes).toString()).version);
      return put(key, bytes, ...rest);
    };
    const slow = { ...objects };
    const one = start({ objects: slow });
    const other = start();
    await settled(clock, one.mirror, other.mirror);
    const release = hold(slow, 'get');
    await one.playlists.publish(principal, screen.id, publication());
    await turns();
    await other.playlists.publish(principal, screen.id, publication());
    await settled(clock, other.mirror);
    release();
    await settled(clock, one.mirror);
    expect(copyOf(screen)).toMatchObject({ version: 2 });
    expect(tried).not.toContain(1);
  });

  it('postpones a screen that changes too fast, and retries it later', async () => {
    const { playlists, mirror } = start();
    const { put } = objects;
    let busy = true;
    objects.put = async (...given) => {
      const done = await put(...given);
      if (busy) await playlists.publish(principal, screen.id, publication());
      return done;
    };
    await playlists.publish(principal, screen.id, publication());
    await turns(100);
    expect(mirror.lag()).toMatchObject({ pending: 1, failures: 1 });
    busy = false;
    await settled(clock, mirror);
    await expectEqual(store, objects, clock, [screen]);
  });

  it('copies what another instance has not copied after half a minute', async () => {
    const one = start();
    await turns();
    const other = start({ objects: { ...objects, get: () => new Promise(() => {}) } });
    await other.playlists.publish(principal, screen.id, publication());
    await turns();
    expect(copyOf(screen)).toBeNull();
    clock.advance(30_000);
    await settled(clock, one.mirror);
    expect(copyOf(screen)).toMatchObject({ version: 1 });
  });

  it.each([
    ['no copy', '{"format":1'],
    ['of another screen', '{}'],
    ['of a version to come, for the store was set back', ''],
  ])('repairs a copy that is %s, with the next change', async (_, text) => {
    const { playlists, mirror } = start();
    await mirrorNew(playlists, mirror);
    objects.objects.set(keyOf(screen), text || JSON.stringify({ ...copyOf(screen), version: 99 }));
    await mirrorNew(playlists, mirror);
    await expectEqual(store, objects, clock, [screen]);
    expect(copyOf(screen)).toMatchObject({ version: 2 });
  });
});

describe('the mirror with failing copies', () => {
  it('retries with backoff, and a single failing screen delays no other', async () => {
    const { playlists, mirror } = start();
    objects.fault = (what, key) => (what === 'put' && key === keyOf(screen) ? 'before' : 'no');
    for (const one of screens) await playlists.publish(principal, one.id, publication());
    await turns(100);
    expect(objects.objects.size).toBe(29);
    expect(mirror.lag().pending).toBe(1);
    const tries: number[] = [];
    for (let second = 1; second <= 200; second++) {
      const before = putsOf(screen);
      clock.advance(1000);
      await turns();
      if (putsOf(screen) > before) tries.push(second);
    }
    const waits = tries.map((second, at) => second - (tries[at - 1] ?? 0));
    // Doubles from 1 s to a minute, each with up to 50 % jitter.
    for (const [at, wait] of waits.entries())
      expect(wait).toBeLessThanOrEqual(Math.min(2 ** at, 60) + 1);
    expect(waits.length).toBeLessThan(14);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(30);
    await playlists.publish(principal, screens[1]!.id, publication());
    await turns();
    expect(copyOf(screens[1]!)).toMatchObject({ version: 2 });
  });

  it('retries one at a time while all of them fail, and all at once after the first success, and logs both', async () => {
    const said: unknown[][] = [];
    const log: LogSink = {
      ...silentLog,
      warn: ({ err }) => void said.push(['warn', err]),
      info: () => void said.push(['info']),
    };
    const { playlists, mirror } = start({ log });
    await settled(clock, mirror);
    objects.calls.length = 0;
    objects.fault = () => 'before';
    for (const one of screens) await playlists.publish(principal, one.id, publication());
    await turns(100);
    expect(objects.calls.length).toBe(8);
    await passSeconds(120, () => false);
    expect(objects.calls.length).toBeLessThan(8 + 12);
    expect(mirror.lag()).toMatchObject({ pending: 30, failures: objects.calls.length });
    expect(said).toEqual([
      ['warn', expect.objectContaining({ message: 'injected: failed before the effect' })],
    ]);
    objects.fault = () => 'no';
    await passSeconds(60, () => objects.objects.size === 30, 60);
    expect(objects.objects.size).toBe(30);
    expect(mirror.lag()).toMatchObject({ pending: 0, oldestMs: undefined });
    expect(said.map(([level]) => level)).toEqual(['warn', 'info']);
  });

  it('reports the time of the oldest entry', async () => {
    const { playlists, mirror } = start();
    await settled(clock, mirror);
    objects.fault = () => 'before';
    await playlists.publish(principal, screen.id, publication());
    const queuedAt = clock.now();
    clock.advance(500);
    await playlists.publish(principal, screen.id, publication());
    expect(mirror.lag()).toMatchObject({ pending: 1, oldestMs: queuedAt });
  });
});

describe('the start of a mirror', () => {
  const fillAndStop = async () => {
    const { playlists, mirror } = start();
    for (const { id } of screens.slice(0, 10))
      await playlists.publish(principal, id, publication());
    await playlists.withdraw(principal, screen.id);
    await settled(clock, mirror);
    await mirror.stop();
  };
  const putPlaylists = (of: readonly Screen[]) =>
    store.write(async (tx) => {
      for (const one of of) await putPlaylist(tx, playlistRow(one));
    });

  it('copies all playlists, about 67 a second, beside what is published meanwhile', async () => {
    const many = await insertScreens(store, 250, 'Further screen');
    await putPlaylists(many);
    const { playlists, mirror } = start();
    await settled(clock, mirror);
    expect(objects.objects.size).toBeLessThanOrEqual(100);
    const last = many.find((one) => copyOf(one) === null) as Screen;
    await playlists.publish(principal, last.id, publication());
    await turns();
    expect(copyOf(last)).toMatchObject({ version: 2 });
    await passSeconds(5, () => false, 60);
    expect(objects.objects.size).toBe(250);
    await expectEqual(store, objects, clock, [...screens, ...many]);
  });

  it('takes over what another instance has not copied while it checks a large fleet', async () => {
    const many = await insertScreens(store, 2500, 'Further screen');
    const { mirror } = start();
    await settled(clock, mirror);
    const other = start({ objects: { ...objects, get: () => new Promise(() => {}) } });
    const last = many.at(-1) as Screen;
    await other.playlists.publish(principal, last.id, publication());
    await passSeconds(31, () => false);
    expect(copyOf(last)).toMatchObject({ version: 1 });
  });

  it('writes nothing if the copies match the store', async () => {
    await fillAndStop();
    const before = objects.calls.length;
    await settled(clock, start().mirror);
    const since = objects.calls.slice(before);
    expect(since.filter((call) => !/^(get|list)/.test(call))).toEqual([]);
    expect(since.filter((call) => /^get .*\/playlists\//.test(call))).toHaveLength(10);
  });

  it('repairs copies that are missing, old, damaged or left over', async () => {
    await fillAndStop();
    const [withdrawn, missing, old, damaged, deleted] = screens as [
      Screen,
      Screen,
      Screen,
      Screen,
      Screen,
    ];
    const row = (await store.read.get('playlists', old.id))!;
    await store.write(async (tx) => {
      await tx.put('playlists', { ...row, version: 2 });
      await tx.delete('playlists', deleted.id);
      await tx.delete('screens', deleted.id);
    });
    objects.objects.delete(keyOf(withdrawn));
    objects.objects.delete(keyOf(missing));
    objects.objects.set(keyOf(damaged), '');
    await settled(clock, start().mirror);
    await expectEqual(store, objects, clock, screens);
    expect(copyOf(old)).toMatchObject({ version: 2 });
    expect(copyOf(withdrawn)).toMatchObject({ state: 'withdrawn' });
    expect(objects.objects.has(keyOf(deleted))).toBe(false);
  });

  it('keeps the copy of a playlist that is damaged in the store', async () => {
    await fillAndStop();
    const one = screens[1]!;
    const good = copyOf(one);
    const row = (await store.read.get('playlists', one.id))!;
    await store.write((tx) => tx.delete('contents', row.contentId));
    const { mirror } = start();
    await turns(100);
    expect(copyOf(one)).toEqual(good);
    expect(mirror.lag()).toMatchObject({ pending: 1, failures: 1 });
  });

  it('checks all copies again half a minute after the object store could not be reached', async () => {
    await putPlaylists(screens);
    objects.fault = () => 'before';
    const { mirror } = start();
    await turns(100);
    objects.fault = () => 'no';
    await settled(clock, mirror);
    expect(objects.objects.size).toBe(30);
    objects.objects.delete(keyOf(screen));
    clock.advance(30_000);
    await turns(100);
    expect(objects.objects.size).toBe(30);
  });
});
