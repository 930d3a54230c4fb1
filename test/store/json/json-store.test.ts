import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/store/json/checkpoint/manifest.ts';
import { makeMemoryFileSystem } from '../../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { ListQuery } from '../../../src/store/queries.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { yieldsDuring } from '../../support/runtime/yields-during.ts';
import { batchOf, guid, tenantA } from '../sample-batch.ts';
import { auditRow, deviceRow, screenRow, tokenRow } from '../sample-rows.ts';

describe('the embedded store', () => {
  it('rejects calls while it is closing', async () => {
    const store = await openStore('memory:');
    const closing = store.close();
    await expect(store.write(async () => 'late')).rejects.toMatchObject({ code: 'unavailable' });
    await closing;
  });

  it('deletes last activity and idempotency keys with their device or token, also on replay', async () => {
    const disk = makeMemoryFileSystem();
    const first = await openStore('memory:', { disk, clock: new ManualClock() });
    await first.write(async (tx) => {
      await tx.put('devices', deviceRow(1));
      await tx.put('tokens', tokenRow(1));
    });
    first.touch('device', guid('devi', 1), { lastSeenAt: 1 });
    first.touch('token', guid('toke', 1), { lastUsedAt: 1 });
    const batch = batchOf([{ type: 'log', timestamp: 1 }], { key: 'k' });
    await first.appendBatch(batch);
    await first.close();

    const second = await openStore('memory:', { disk, clock: new ManualClock() });
    expect(await second.appendBatch(batch)).toBe('repeated');
    await second.write(async (tx) => {
      await tx.delete('devices', guid('devi', 1));
      await tx.delete('tokens', guid('toke', 1));
    });
    // Not closed: as after a kill, only the journal has the deletion.
    for (const store of [second, await openStore('memory:', { disk, clock: new ManualClock() })]) {
      expect(await store.marks('device', guid('devi', 1))).toEqual({});
      expect(await store.marks('token', guid('toke', 1))).toEqual({});
    }
    expect(await second.appendBatch(batch)).toBe('stored');
  });

  it('yields to the event loop while it scans many rows', async () => {
    const store = await openStore('memory:');
    await store.write(async (tx) => {
      for (let number = 0; number < 5000; number++) await tx.put('screens', screenRow(number));
    });
    const listing = async () =>
      expect((await store.list('screens', { limit: 10, search: 'nothing' })).items).toEqual([]);
    expect(await yieldsDuring(listing)).toBeGreaterThanOrEqual(5);
    await store.close();
  });

  it('continues a list correctly when rows change between pages', async () => {
    const store = await openStore('memory:');
    await store.write(async (tx) => {
      for (let number = 0; number < 3000; number++)
        await tx.put(
          'screens',
          screenRow(number, { labels: number === 2500 ? { wanted: 'yes' } : {} }),
        );
    });
    const listing = store.list('screens', {
      limit: 10,
      labels: { wanted: 'yes' },
      where: { tenantId: tenantA },
    });
    const deleting = store.write(async (tx) => {
      for (let number = 0; number < 3000; number += 2)
        if (number !== 2500) await tx.delete('screens', guid('scre', number));
    });
    expect((await listing).items.map((row) => row.id)).toEqual([guid('scre', 2500)]);
    await deleting;
    await store.close();
  });

  it('finds no rows by name in a table without names, and ignores filters that are not given', async () => {
    const store = await openStore('memory:');
    await store.write((tx) => tx.put('devices', deviceRow(1)));
    const ids = async (query: object) =>
      (await store.list('devices', { limit: 5, ...query } as ListQuery<'devices'>)).items.length;
    expect(await ids({ name: 'any' })).toBe(0);
    expect(await ids({ search: 'any' })).toBe(0);
    expect(await ids({ labels: { any: 'x' } })).toBe(0);
    expect(await ids({ where: { state: undefined, tenantId: tenantA } })).toBe(1);
    await store.close();
  });

  it.each([
    ['events and audit entries', true],
    ['audit entries alone', false],
  ])(
    'runs a checkpoint after a purge, which deletes dropped days of %s from disk',
    async (_, hasEvents) => {
      const disk = makeMemoryFileSystem();
      const clock = new ManualClock();
      const store = await openStore('memory:', { disk, clock });
      if (hasEvents) await store.appendBatch(batchOf([{ type: 'log', timestamp: 1 }]));
      await store.write((tx) => tx.audit(auditRow(1, { at: clock.now() })));
      const settled = async () => {
        for (let turn = 0; turn < 50; turn++) await setImmediate();
      };
      clock.advance(3 * 24 * 60 * 60_000);
      await settled();
      await store.purgeBefore(clock.now());
      await settled();
      expect([await disk.list('memory:/events'), await disk.list('memory:/audit')]).toEqual([
        [],
        [],
      ]);
      expect((await store.audit({ tenantIds: [tenantA], limit: 5 })).items).toEqual([]);
      await store.close();
    },
  );

  it('runs a checkpoint at the start if 64 MiB of events are in no document', async () => {
    const disk = makeMemoryFileSystem();
    let isFull = false;
    const create = (path: string) =>
      isFull ? Promise.reject(new Error('no space')) : disk.create(path);
    const first = await openStore('memory:', { disk: { ...disk, create } });
    const text = 'x'.repeat(9 << 20);
    for (let n = 0; n < 8; n++) {
      await first.appendBatch(batchOf([{ type: 'log', timestamp: 1, text }]));
      isFull = true;
    }
    // A crash: the first store is not closed.
    const second = await openStore('memory:', { disk });
    await expect
      .poll(async () => (await readManifest(disk, 'memory:')).data.marks.events)
      .toMatchObject({
        seq: 8,
      });
    await second.close();
    await first.close();
  });
});
