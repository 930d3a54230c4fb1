import { describe, expect, it } from 'vitest';
import { makeConfigCopies } from '../../../src/origin/object-store/config-copies.ts';
import { syncConfig } from '../../../src/service/mirror/sync.ts';
import { makeConfigs } from '../../../src/service/places/configs.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { configRow, venueRow } from '../../store/sample-rows.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { memoryObjectStore } from '../../support/stores/memory-object-store.ts';
import { insertScreens, instance, principal, settled, tenantId } from './mirror-rig.ts';

async function setUp(supportsConditions = true) {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  const objects = Object.assign(memoryObjectStore(), { supportsConditions });
  const [screen] = await insertScreens(store, 1);
  const of = { id: `screen/${screen!.id}`, tenantId };
  return { clock, store, objects, screen: screen!, of, copies: makeConfigCopies(objects, clock) };
}

describe('mirror copies of configs', () => {
  it.each([true, false])(
    'match the store eventually, with concurrent changes (conditional writes: %s)',
    async (supportsConditions) => {
      const { clock, store, objects, screen, of, copies } = await setUp(supportsConditions);
      const instances = [1, 2, 3].map(() => instance({ store, objects, clock }));
      const services = instances.map(({ deps }) => makeConfigs(deps));
      const mirrors = instances.map(({ mirror }) => mirror);
      for (let round = 0; round < 8; round++) {
        const changes = Array.from({ length: 9 }, async (_, place) => {
          const configs = services[place % 3]!;
          if (place % 4 === round % 4) await configs.remove(principal, 'screen', screen.id);
          else
            await configs.put(principal, 'screen', screen.id, {
              syncIntervalMinutes: round * 9 + place + 1,
            });
        });
        await Promise.all(changes);
        await settled(clock, ...mirrors);
        expect((await copies.read(of))?.row).toEqual(await store.read.get('configs', of.id));
      }
      for (const mirror of mirrors) await mirror.stop();
      await store.close();
    },
  );

  it('are made of existing configs of every level, if they do not exist', async () => {
    const { clock, store, objects, screen, copies } = await setUp();
    const owners = { tenant: tenantId, venue: screen.venueId, screen: screen.id } as const;
    const levels = Object.entries(owners) as [keyof typeof owners, string][];
    await store.write(async (tx) => {
      await tx.put('venues', venueRow(1, { id: screen.venueId, tenantId }));
      for (const [level, ownerId] of levels)
        await tx.put('configs', { ...configRow(level, ownerId, { at: level }), tenantId });
    });
    const { mirror } = instance({ store, objects, clock });
    await settled(clock, mirror);
    for (const [level, ownerId] of levels) {
      expect((await copies.read({ id: `${level}/${ownerId}`, tenantId }))?.row?.config).toEqual({
        at: level,
      });
    }
    await mirror.stop();
    const calls = objects.calls.length;
    const again = instance({ store, objects, clock });
    await settled(clock, again.mirror);
    await again.mirror.stop();
    expect(objects.calls.slice(calls).filter((call) => call.startsWith('put'))).toEqual([]);
    await store.close();
  });

  it('are deleted for a config removed while no object store was configured', async () => {
    const { clock, store, objects, screen, of, copies } = await setUp();
    const first = instance({ store, objects, clock });
    await makeConfigs(first.deps).put(principal, 'screen', screen.id, { volume: 3 });
    await settled(clock, first.mirror);
    await first.mirror.stop();
    await makeConfigs({ ...first.deps, store }).remove(principal, 'screen', screen.id);
    expect(await copies.read(of)).toBeDefined();
    const next = instance({ store, objects, clock });
    await settled(clock, next.mirror);
    expect(await copies.read(of)).toBeUndefined();
    await next.mirror.stop();
    await store.close();
  });

  it('are rewritten if they are damaged, or belong to another owner', async () => {
    const { store, objects, screen, of, copies } = await setUp();
    const row = { ...configRow('screen', screen.id, { volume: 3 }), tenantId };
    await store.write((tx) => tx.put('configs', row));
    await syncConfig(store.read, copies, of);
    const [[key, text]] = [...objects.objects] as [[string, string]];
    for (const bad of [
      '{"format":1',
      text.replace(screen.id, tenantId),
      text.replace('"format":1', '"format":2'),
    ]) {
      objects.objects.set(key, bad);
      expect(await copies.read(of)).toEqual({ row: undefined, etag: expect.any(String) });
      await syncConfig(store.read, copies, of);
      expect((await copies.read(of))?.row).toEqual(row);
    }
    await store.close();
  });

  it('throw unavailable for a config that changes faster than it can be mirrored', async () => {
    const { store, objects, screen, of, copies } = await setUp();
    const row = { ...configRow('screen', screen.id, {}), tenantId };
    let changes = 0;
    await store.write((tx) => tx.put('configs', row));
    const put = objects.put.bind(objects);
    objects.put = async (...given) => {
      await store.write((tx) => tx.put('configs', { ...row, updatedAt: ++changes + 1 }));
      return put(...given);
    };
    await expect(syncConfig(store.read, copies, of)).rejects.toMatchObject({ code: 'unavailable' });
    expect(changes).toBe(5);
    await store.close();
  });
});
